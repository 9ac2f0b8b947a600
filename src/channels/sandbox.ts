import type { Ask, MakeChannel, Order, Reply, Told, Way } from '../core/channel.ts'
import { currencies, formatMoney, parseMoney } from '../core/money.ts'
import type { Reason } from '../core/reason.ts'

// oxlint-disable unicorn/no-thenable -- `then` is a word here, not a function: await passes it by

// The line to the simulated provider. It speaks HTTP as to any other.
const deadlineMs = 5000
const maxAnswerBytes = 64 * 1024

const phone: Ask = { name: 'phone', kind: 'phone' }
const voucher: Ask = { name: 'voucher_code', kind: 'digits', maxLength: 6 }
const wallet = { currencies: ['GHS'], then: 'prompt' } as const

const ways: readonly Way[] = [
  {
    ...wallet,
    payment_method: 'mtn_mobile_money',
    label: 'MTN MoMo',
    badge: { text: 'MTN', background: '#ffcc00', ink: '#15201b' },
    asks: [phone],
    network: 'mtn',
    dial: { code: '*170#', steps: '6 My Wallet, 3 My Approvals' },
  },
  {
    ...wallet,
    payment_method: 'telecel_cash',
    label: 'Telecel Cash',
    badge: { text: 'T', background: '#e60000', ink: '#ffffff' },
    asks: [phone, voucher],
    network: 'telecel',
    dial: { code: '*110#' },
  },
  {
    ...wallet,
    payment_method: 'airteltigo_money',
    label: 'AT Money',
    badge: { text: 'AT', background: '#12317d', ink: '#ffffff' },
    asks: [phone],
    network: 'at',
    dial: { code: '*110#' },
  },
  {
    payment_method: 'card',
    label: 'Card',
    badge: { text: 'Card', background: '#2a3550', ink: '#ffffff' },
    currencies,
    asks: [],
    then: 'redirect',
  },
  {
    payment_method: 'ghqr',
    label: 'GhQR',
    badge: { text: 'QR', background: '#15201b', ink: '#ffffff' },
    currencies: ['GHS'],
    asks: [],
    then: 'qr',
  },
]

// What the provider calls each of them.
const methods: Readonly<Record<string, string>> = {
  mtn_mobile_money: 'mtn',
  telecel_cash: 'telecel',
  airteltigo_money: 'at',
  card: 'card',
  ghqr: 'ghqr',
}

const wordReasons = new Map<unknown, Reason>([
  ['NOT_ENOUGH_FUNDS', 'insufficient_funds'],
  ['APPROVAL_REJECTED', 'declined'],
  ['EXPIRED', 'no_answer'],
  ['NETWORK_ERROR', 'network_error'],
  ['WRONG_VOUCHER', 'wrong_voucher'],
])

const cardReasons = new Map<unknown, Reason>([
  ['05', 'card_declined'],
  ['51', 'insufficient_funds'],
  ['54', 'card_expired'],
  ['82', 'wrong_cvv'],
  ['1A', 'not_authenticated'],
])

const sandbox: MakeChannel = ({ SANDBOX_URL, SANDBOX_KEY }) => {
  if (!SANDBOX_URL || !SANDBOX_KEY) return undefined
  const local = (path: string) => new URL(path, SANDBOX_URL).href
  const charges = local('/sandbox/provider/charges')
  const authorization = `Bearer ${SANDBOX_KEY}`

  const start = (order: Order) =>
    neverThrow(async signal => {
      const headers = {
        authorization,
        'content-type': 'application/json',
        'x-reference-id': order.attempt_id,
      }
      const body = JSON.stringify(requestOf(order, local))
      const { http, answer } = await ask(charges, { method: 'POST', headers, body, signal })
      if (http === 202) return pendingReply(order, answer)
      // The provider's own plain word that it took nothing, not that of something on the way.
      if (http === 400 && answer.code === 'INVALID_REQUEST') return { state: 'failed', reason: 'refused' }
      if (http !== 409) return unknown(`HTTP ${http}`)
      const reply = await look(order, signal) // it was started before: how does it stand?
      return reply.state === 'absent' ? unknown('HTTP 409, then 404') : reply
    })

  const check = (order: Order) => neverThrow(signal => look(order, signal))

  async function look(order: Order, signal: AbortSignal): Promise<Reply> {
    const url = `${charges}/${encodeURIComponent(order.attempt_id)}`
    const { http, answer } = await ask(url, { headers: { authorization }, signal })
    if (http === 404 && answer.code === 'RESOURCE_NOT_FOUND') return { state: 'absent' }
    return http === 200 ? replyOf(order, answer) : unknown(`HTTP ${http}`)
  }

  return { mode: 'test', ways, start, check }
}

export default sandbox

// We talk to ourselves here, so the callback takes the short way; the customer comes from outside.
const requestOf = (order: Order, local: (path: string) => string) => ({
  amount: formatMoney(order.amount),
  currency: order.currency,
  method: methods[order.payment_method],
  payer: order.given.phone?.replace(/^\+/, ''),
  voucher: order.given.voucher_code,
  payee: order.merchant_name,
  note: order.description || undefined,
  callback_url: local(order.callback_url.replace(/^https?:\/\/[^/]*/i, '')),
  return_url: order.return_url,
})

type Answer = Record<string, unknown>

function replyOf(order: Order, answer: Answer): Reply {
  if (answer.status === 'PENDING') return pendingReply(order, answer)
  const told = toldOf(answer)
  if (answer.status === 'FAILED') return { state: 'failed', reason: reasonOf(answer), ...told }
  if (answer.status !== 'SUCCESSFUL') return unknown(`status ${shown(answer.status)}`)
  const amount = parseMoney(String(answer.amount))
  if (typeof amount === 'string' || typeof answer.currency !== 'string')
    return unknown(`paid ${shown(answer.amount)} ${shown(answer.currency)}`)
  return { state: 'paid', amount, currency: answer.currency, ...told }
}

// Without the way on, the customer would wait for nothing: it is asked for again.
function pendingReply(order: Order, { redirectPath, qrPath }: Answer): Reply {
  const then = ways.find(way => way.payment_method === order.payment_method)?.then
  if (then === 'prompt') return { state: 'pending' }
  const path = then === 'qr' ? qrPath : redirectPath
  if (typeof path !== 'string' || !/^\/sandbox\/[\w/-]+$/.test(path)) return unknown('no way on')
  const url = new URL(path, order.return_url).href
  return { state: 'pending', ...(then === 'qr' ? { qr: url } : { redirect_url: url }) }
}

const cardOf = ({ card }: Answer) => (typeof card === 'object' && card !== null ? (card as Answer) : {})

function reasonOf(answer: Answer): Reason {
  return wordReasons.get(answer.reason) ?? cardReasons.get(cardOf(answer).responseCode) ?? 'refused'
}

function toldOf(answer: Answer): Told {
  const { type, last4, responseCode, responseMessage } = cardOf(answer)
  const told = {
    provider_ref: answer.financialTransactionId,
    card_type: type,
    psp_response_code: responseCode,
    psp_response_msg: responseMessage,
    instrument: type && last4 && `${shown(type)} •••• ${shown(last4)}`,
  }
  return Object.fromEntries(Object.entries(told).filter(([, value]) => typeof value === 'string'))
}

const unknown = (words: string): Reply => ({ state: 'unknown', words })

const shown = (value: unknown) => String(value).slice(0, 40)

// The deadline is a timer of ours and reaches the body, too: fetch can lose sight of its signal once the headers are
// there, and would then read a slow answer for ever.
async function neverThrow(work: (signal: AbortSignal) => Promise<Reply>): Promise<Reply> {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(new Error('no answer in time')), deadlineMs)
  try {
    return await work(deadline.signal)
  } catch (error) {
    const { message, cause } = error as Error
    return unknown(cause instanceof Error ? `${message}: ${cause.message}` : message)
  } finally {
    clearTimeout(timer)
  }
}

// A redirect, a page, an endless or a late answer: each is thrown.
async function ask(url: string, init: RequestInit & { signal: AbortSignal }) {
  const response = await fetch(url, { ...init, redirect: 'error' })
  const answer: unknown = JSON.parse(await readText(response, init.signal))
  if (typeof answer !== 'object' || answer === null) throw new Error('the answer is no JSON object')
  return { http: response.status, answer: answer as Answer }
}

async function readText({ body }: Response, signal: AbortSignal) {
  const chunks: Uint8Array[] = []
  let bytes = 0
  const reader = body?.getReader()
  const hangUp = () => void reader?.cancel().catch(() => {})
  signal.addEventListener('abort', hangUp)
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true }
    signal.throwIfAborted()
    if (done || !value) return Buffer.concat(chunks).toString()
    bytes += value.byteLength
    chunks.push(value)
    if (bytes <= maxAnswerBytes) continue
    hangUp()
    throw new Error('the answer is too long')
  }
}
