import { createHmac } from 'node:crypto'
import type { Credentials } from '../../../src/actions/merchants/onboard.ts'

// The merchant's side of the interface, written from its documentation only.
export const sign = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex')

export type Request = Record<string, unknown> & { invoice_id: string; total: string }

let invoices = 0
export const newInvoice = () => `T-${process.pid}-${++invoices}`

export function signedRequest(
  keys: Pick<Credentials, 'merchant_key' | 'secret_key'>,
  fields: Record<string, unknown> = {},
) {
  const request = {
    merchant_key: keys.merchant_key,
    invoice_id: newInvoice(),
    total: '25.00',
    generate_checkout_url: true,
    ...fields,
  }
  const text = `invoice_id=${request.invoice_id}&merchant_key=${request.merchant_key}&total=${request.total}`
  return { secure_hash: sign(keys.secret_key, text), ...request } as Request
}

export type Answer = { http: number; headers: Headers; text: string; body: any }

// Forms of the checkout and the sandbox are sent with the Origin of the same host, unless the test sets one.
export async function send(url: string, init?: RequestInit): Promise<Answer> {
  const headers = new Headers(init?.headers)
  const isForm =
    init?.method === 'POST' && /^\/(checkout|sandbox\/(phone|card))\//.test(new URL(url).pathname)
  if (isForm && !headers.has('origin') && !headers.has('sec-fetch-site'))
    headers.set('origin', new URL(url).origin)
  const response = await fetch(url, { redirect: 'manual', ...init, headers })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { http: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : {} }
}

export const post = (url: string, body: unknown, type = 'application/json') =>
  send(`${url}/v1/mobile_agents_v2`, {
    method: 'POST',
    headers: { 'content-type': type },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

// A signed status check.
export function signedQuestion(
  { merchant_key, secret_key }: Pick<Credentials, 'merchant_key' | 'secret_key'>,
  invoice_id: string,
) {
  const secure_hash = sign(secret_key, `invoice_id=${invoice_id}&merchant_key=${merchant_key}`)
  return { merchant_key, invoice_id, secure_hash }
}

export const checkStatus = (
  url: string,
  query: Record<string, string>,
  path = '/v1/gateway/json_status_chk',
) => send(`${url}${path}?${new URLSearchParams(query).toString()}`)

const mostTries = 5

// Repeats a request a few times if its 503 was slow, which means that the machine is busy. The faults that tests cause are
// answered faster.
export async function askSlowMachine<T extends { http: number }>(
  ask: () => Promise<T>,
  afterMs = 1000,
  tries = mostTries,
): Promise<T> {
  const from = performance.now()
  const answer = await ask()
  const isSlow = answer.http === 503 && performance.now() - from > afterMs
  return isSlow && tries > 1 ? askSlowMachine(ask, afterMs, tries - 1) : answer
}
