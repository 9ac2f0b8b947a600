import type { ProviderAccount, Provider } from '../core/provider/provider.ts'
import type { Order } from '../core/provider/order.ts'
import type { Reason } from '../core/provider/reason.ts'
import type { RefundOrder, RefundReply } from '../core/provider/refundOrder.ts'
import type { Reply, ReplyFacts } from '../core/provider/reply.ts'
import type { FormField, TestEnding, PaymentMethod } from '../core/provider/paymentMethod.ts'
import { currencies, formatMoney, parseReportedMoney } from '../core/money.ts'
import { atWallet, mtnWallet, telecelWallet } from './ghana/wallets.ts'
import { operatorUrl, withPath } from '../core/urlTrust.ts'
import { type JsonAnswer as Answer, openProviderHttp } from './http/providerHttp.ts'

// The simulated provider, for test payments. It is called by HTTP like any other provider.
const phone: FormField = { name: 'phone', kind: 'phone' }
const voucher: FormField = { name: 'voucher_code', kind: 'digits', maxLength: 6 }
const minutes = 60_000
const promptMs = 5 * minutes // how long a prompt or a QR code waits for the customer
const cardMs = 15 * minutes

const paymentMethods: readonly PaymentMethod[] = [
  { ...mtnWallet, fields: [phone], lifetimeMs: promptMs },
  { ...telecelWallet, fields: [phone, voucher], lifetimeMs: promptMs },
  { ...atWallet, fields: [phone], lifetimeMs: promptMs },
  {
    payment_method: 'card',
    label: 'Card',
    badge: { text: 'Card', background: '#2a3550', ink: '#ffffff' },
    currencies,
    fields: [],
    next: 'redirect',
    lifetimeMs: cardMs,
  },
  {
    payment_method: 'ghqr',
    label: 'GhQR',
    badge: { text: 'QR', background: '#15201b', ink: '#ffffff' },
    currencies: ['GHS'],
    fields: [],
    next: 'qr',
    lifetimeMs: promptMs,
  },
]

// The phone numbers of the table in docs/sandbox.md.
const ending = (name: TestEnding['name'], number: string): TestEnding => ({
  name,
  payment_method: 'mtn_mobile_money',
  input: { phone: number },
})
const testEndings = [
  ending('paid', '0240000000'),
  ending('declined', '0240000003'),
  ending('no_money', '0240000002'),
  ending('no_answer', '0240000004'),
  ending('late', '0240000007'),
  ending('wrong_amount', '0240000009'),
]

// The simulator's names of the payment methods.
const methodNames: Readonly<Record<string, string>> = {
  mtn_mobile_money: 'mtn',
  telecel_cash: 'telecel',
  airteltigo_money: 'at',
  card: 'card',
  ghqr: 'ghqr',
}

const walletReasons = new Map<unknown, Reason>([
  ['NOT_ENOUGH_FUNDS', 'insufficient_funds'],
  ['APPROVAL_REJECTED', 'declined'],
  ['PAYER_CANCELLED', 'not_completed'],
  ['EXPIRED', 'no_answer'],
  ['WITHDRAWN', 'withdrawn'],
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

const sandbox: Provider = {
  businessSettings: [], // the gateway makes a new key at each start
  settings: [
    { name: 'url', words: "The gateway's own address." },
    { name: 'key', words: 'A new one at each start.', isSecret: true },
  ],
  open: ({ url = '', key = '' }) => open(url, key),
}

function open(ourUrl: string, key: string): ProviderAccount {
  const local = (path: string) => new URL(path, ourUrl).href
  const charges = operatorUrl(local('/sandbox/provider/charges'))
  const refunds = operatorUrl(local('/sandbox/provider/refunds'))
  const provider = openProviderHttp()
  const authorization = `Bearer ${key}`

  async function start(order: Order, signal: AbortSignal): Promise<Reply> {
    const headers = {
      authorization,
      'content-type': 'application/json',
      'x-reference-id': order.idempotency_key,
    }
    const body = JSON.stringify(requestOf(order, local))
    const { http, answer, restMs } = await provider.sendJson(charges, {
      method: 'POST',
      headers,
      body,
      signal,
    })
    if (http === 202) return pendingReply(order, answer)
    // Only this code of the simulator itself proves that it did not accept the order; a proxy may also answer 400.
    if (http === 400 && answer.code === 'INVALID_REQUEST') return { state: 'failed', reason: 'refused' }
    if (http !== 409) return unknown(`HTTP ${http}`, { restMs })
    const reply = await check(order, signal) // the order was sent before, so its status counts
    return reply.state === 'absent' ? unknown('HTTP 409, then 404', { acknowledged: true }) : reply
  }

  const check = (order: Order, signal: AbortSignal) => ask(order, signal, 'GET')
  const giveUp = (order: Order, signal: AbortSignal) => ask(order, signal, 'POST', '/withdraw')

  async function ask(order: Order, signal: AbortSignal, method: 'GET' | 'POST', verb = ''): Promise<Reply> {
    const url = withPath(charges, `/${encodeURIComponent(order.idempotency_key)}${verb}`)
    const { http, answer, restMs } = await provider.askJson(url, {
      method,
      headers: { authorization },
      signal,
    })
    if (http === 404 && answer.code === 'RESOURCE_NOT_FOUND') return { state: 'absent' }
    return http === 200 ? replyOf(order, answer) : unknown(`HTTP ${http}`, { restMs })
  }

  async function refund(order: RefundOrder, signal: AbortSignal): Promise<RefundReply> {
    const headers = {
      authorization,
      'content-type': 'application/json',
      'x-reference-id': order.idempotency_key,
    }
    const body = JSON.stringify(refundRequest(order, local))
    const { http, answer, restMs } = await provider.sendJson(refunds, {
      method: 'POST',
      headers,
      body,
      signal,
    })
    if (http === 202) return { state: 'pending' }
    const refusal = http === 400 ? refundRefusals.get(answer.code) : undefined
    if (refusal)
      return { state: 'failed', words: refusal, isRefused: true, provider_code: shown(answer.code) }
    if (http !== 409) return unknown(`HTTP ${http}`, { restMs })
    const reply = await checkRefund(order, signal) // the refund was sent before, so its status counts
    return reply.state === 'absent' ? unknown('HTTP 409, then 404', { acknowledged: true }) : reply
  }

  async function checkRefund(order: RefundOrder, signal: AbortSignal): Promise<RefundReply> {
    const url = withPath(refunds, `/${encodeURIComponent(order.idempotency_key)}`)
    const { http, answer, restMs } = await provider.askJson(url, { headers: { authorization }, signal })
    if (http === 404 && answer.code === 'RESOURCE_NOT_FOUND') return { state: 'absent' }
    return http === 200 ? refundReplyOf(order, answer) : unknown(`HTTP ${http}`, { restMs })
  }

  return {
    mode: 'test',
    account: 'sandbox',
    startIsIdempotent: true, // a used reference is refused
    failureMayReverseForMs: 120 * minutes,
    visibleWithinMs: minutes, // a charge is stored before it is acknowledged, but the request may arrive late
    methods: paymentMethods,
    testerPage: attempt_id => `/sandbox/phone/${attempt_id}`,
    testEndings,
    start,
    check,
    giveUp,
    refunds: {
      isIdempotent: true, // a used reference is refused
      hasPartial: true,
      visibleWithinMs: minutes,
      refund,
      checkRefund,
    },
  }
}

export default sandbox

type LocalUrl = (path: string) => string

// The simulator runs in the gateway, so its callback uses the local address. The customer's return does not.
const requestOf = (order: Order, local: LocalUrl) => ({
  amount: formatMoney(order.amount, order.currency),
  currency: order.currency,
  method: methodNames[order.payment_method],
  payer: order.given.phone?.replace(/^\+/, ''),
  voucher: order.given.voucher_code,
  payee: order.merchant_name,
  note: order.description || undefined,
  callback_url: local(order.callback_url.replace(/^https?:\/\/[^/]*/i, '')),
  return_url: order.return_url,
})

function replyOf(order: Order, answer: Answer): Reply {
  if (answer.status === 'PENDING') return pendingReply(order, answer)
  const facts = factsOf(answer)
  if (answer.status === 'FAILED') return { state: 'failed', reason: reasonOf(answer), ...facts }
  if (answer.status !== 'SUCCESSFUL') return unknown(`status ${shown(answer.status)}`)
  const { currency } = answer
  const amount = parseReportedMoney(String(answer.amount), currency, order.currency)
  if (typeof amount === 'string' || typeof currency !== 'string')
    return unknown(`paid ${shown(answer.amount)} ${shown(currency)}`)
  const named = typeof answer.externalId === 'string' ? answer.externalId : ''
  return { state: 'paid', order: named, amount, currency, ...facts }
}

// Without an address the customer cannot continue, so the status is asked again.
function pendingReply(order: Order, { redirectPath, qrPath }: Answer): Reply {
  const next = paymentMethods.find(method => method.payment_method === order.payment_method)?.next
  if (next === 'prompt') return { state: 'pending' }
  const path = next === 'qr' ? qrPath : redirectPath
  if (typeof path !== 'string' || !/^\/sandbox\/[\w/-]+$/.test(path))
    return unknown('no address of the payment page', { acknowledged: true })
  const { href } = new URL(path, order.return_url)
  const url = order.lang && /^[a-z]{2,3}$/.test(order.lang) ? `${href}?lang=${order.lang}` : href
  return { state: 'pending', ...(next === 'qr' ? { qr: url } : { redirect_url: url }) }
}

const cardOf = ({ card }: Answer) => (typeof card === 'object' && card !== null ? (card as Answer) : {})

function reasonOf(answer: Answer): Reason {
  return walletReasons.get(answer.reason) ?? cardReasons.get(cardOf(answer).responseCode) ?? 'refused'
}

function factsOf(answer: Answer): ReplyFacts {
  const { type, last4, responseCode, responseMessage } = cardOf(answer)
  const facts = {
    provider_ref: answer.financialTransactionId,
    card_type: type,
    psp_response_code: responseCode,
    psp_response_msg: responseMessage,
    instrument: type && last4 && `${shown(type)} •••• ${shown(last4)}`,
  }
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => typeof value === 'string'))
}

const refundRequest = (order: RefundOrder, local: LocalUrl) => ({
  charge: order.charge.idempotency_key,
  amount: formatMoney(order.amount, order.currency),
  currency: order.currency,
  callback_url: local(order.callback_url.replace(/^https?:\/\/[^/]*/i, '')),
})

// Only these codes of the simulator itself prove that it did not accept the refund; a proxy may also answer 400.
const refundRefusals = new Map<unknown, string>([
  ['INVALID_REQUEST', 'The sandbox refused the request.'],
  ['CHARGE_NOT_FOUND', 'The sandbox has no such charge, or it is not paid.'],
  ['MORE_THAN_CHARGED', 'The refunds together would exceed the charge.'],
  ['NOT_ENOUGH_FUNDS', 'The float at the provider is too low: top it up, then retry the refund.'],
])

function refundReplyOf(order: RefundOrder, answer: Answer): RefundReply {
  const { status, currency } = answer
  const reason = answer.reason === undefined ? {} : { provider_code: shown(answer.reason) }
  if (status === 'PENDING') return { state: 'pending' }
  if (status === 'NEEDS_ACTION') return { state: 'needs_action', words: needsBankDetails, ...reason }
  if (status === 'FAILED') return { state: 'failed', words: 'The sandbox could not refund it.', ...reason }
  if (status !== 'SUCCESSFUL') return unknown(`status ${shown(status)}`)
  const amount = parseReportedMoney(String(answer.amount), currency, order.currency)
  return {
    state: 'succeeded',
    refund: typeof answer.externalId === 'string' ? answer.externalId : '',
    amount: typeof amount === 'bigint' ? amount : -1n, // an unreadable amount is another one than requested
    currency: typeof currency === 'string' ? currency : '',
    ...(typeof answer.externalId === 'string' && { provider_ref: answer.externalId }),
  }
}

const needsBankDetails =
  'The provider needs a bank account of the customer. At a real provider, enter it on its dashboard.'

const unknown = (words: string, more: { acknowledged?: boolean; restMs?: number } = {}) => ({
  state: 'unknown' as const,
  words,
  ...more,
})

const shown = (value: unknown) => String(value).slice(0, 40)
