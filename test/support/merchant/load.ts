import { setTimeout as sleep } from 'node:timers/promises'
import { refundString } from '../../../src/core/interface/signature.ts'
import type { Credentials } from '../gateway/gateway.ts'
import { type Request, send, sign, signedRequest } from './merchant.ts'

type LoadAnswer = { http: number; text: string }
export type Ask = (method: string, path: string, body?: string) => Promise<LoadAnswer>

// What a shop has bought. The times are those at which the gateway had acknowledged it.
export type Bought = {
  invoice_id: string
  reference?: string
  acknowledgedAt?: number
  refund_id?: string
  refundedAt?: number
}

export type Load = {
  bought: Bought[]
  failed: string[] // every answer that was not 200
  stop(): Promise<void>
}

const restMs = 20

export const askAt =
  (url: string): Ask =>
  (method, path, body) =>
    send(url + path, { method, ...(body && { body, headers: { 'content-type': 'application/json' } }) })

// Customers who pay by mobile money one after the other. Each payment is checked until it is paid, while the next are
// requested, and then a part of it is refunded. A request that was not answered with 200 is repeated until it is, as a shop
// has to do.
export function startLoad(ask: Ask, shop: Credentials, { customers = 4, refunds = false } = {}): Load {
  const bought: Bought[] = []
  const failed: string[] = []
  const over = new AbortController()
  const insist = async (what: string, method: string, path: string, body?: string) => {
    for (;;) {
      const answer = await ask(method, path, body).catch((error: unknown) => ({
        http: 0,
        text: String(error),
      }))
      if (answer.http === 200) return JSON.parse(answer.text)
      failed.push(`${what} ${answer.http} ${answer.text}`)
      await sleep(restMs)
    }
  }
  const refund = async (one: Bought) => {
    const refund_id = `R-${one.invoice_id}`
    const signed = { merchant_key: shop.merchant_key, invoice_id: one.invoice_id, refund_id, amount: '10.00' }
    const body = { ...signed, secure_hash: sign(shop.secret_key, refundString(signed)) }
    await insist('refund', 'POST', '/v1/refunds', JSON.stringify(body))
    Object.assign(one, { refund_id, refundedAt: Date.now() })
  }
  const buy = async () => {
    const waiting: Bought[] = []
    while (!over.signal.aborted) {
      const request = mobileMoney(shop)
      const one: Bought = { invoice_id: request.invoice_id }
      bought.push(one)
      const { tx_reference } = await insist(
        'request',
        'POST',
        '/v1/mobile_agents_v2',
        JSON.stringify(request),
      )
      Object.assign(one, { reference: tx_reference, acknowledgedAt: Date.now() })
      waiting.push(one)
      const [oldest] = waiting
      if (!oldest) continue
      const { status } = await insist('status', 'GET', checkPath(shop, oldest.invoice_id))
      if (status === 'paid') {
        waiting.shift()
        if (refunds) await refund(oldest)
      }
      await sleep(restMs)
    }
  }
  const running = Array.from({ length: customers }, buy)
  return {
    bought,
    failed,
    async stop() {
      over.abort()
      await Promise.all(running)
    },
  }
}

export const mobileMoney = (shop: Credentials, pymt_instrument = '0240000000', more = {}): Request =>
  signedRequest(shop, {
    generate_checkout_url: undefined,
    pymt_instrument,
    extra_wallet_issuer_hint: 'MTN',
    ...more,
  })

export const checkPath = ({ merchant_key }: Credentials, invoice_id: string) =>
  `/v1/gateway/json_status_chk?${new URLSearchParams({ merchant_key, invoice_id }).toString()}`
