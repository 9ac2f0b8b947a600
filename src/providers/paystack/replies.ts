import type { Order } from '../../core/provider/order.ts'
import type { FormField, Step } from '../../core/provider/paymentMethod.ts'
import type { Reason } from '../../core/provider/reason.ts'
import type { Reply, ReplyFacts } from '../../core/provider/reply.ts'
import type { JsonAnswer } from '../http/providerHttp.ts'
import { type PaystackResponse, paystackSample } from './client.ts'

// Steps that Paystack may request after the start, and where the input is sent. PINs are not among them: only the network
// may ask for the PIN of a wallet, so our page never does.
type PaystackStep = { name: string; field: FormField; path: string; parameter: string }

const code = { maxLength: 12 } as const
const otp: PaystackStep = {
  name: 'otp',
  field: {
    name: 'otp',
    kind: 'digits',
    ...code,
    words: { en: { label: 'Code from the message' }, fr: { label: 'Code reçu par message' } },
  },
  path: '/charge/submit_otp',
  parameter: 'otp',
}
const voucher: PaystackStep = {
  name: 'voucher',
  field: { name: 'voucher_code', kind: 'digits', ...code },
  path: '/charge/submit_otp',
  parameter: 'otp',
}
const birthday: PaystackStep = {
  name: 'birthday',
  field: {
    name: 'birthday',
    kind: 'date',
    words: { en: { label: 'Date of birth' }, fr: { label: 'Date de naissance' } },
  },
  path: '/charge/submit_birthday',
  parameter: 'birthday',
}
const phone: PaystackStep = {
  name: 'phone',
  field: { name: 'phone', kind: 'phone' },
  path: '/charge/submit_phone',
  parameter: 'phone',
}
const steps = [otp, voucher, birthday, phone]

export const stepCalled = (name: string) => steps.find(step => step.name === name)

function stepFor(status: unknown, { payment_method }: Order): PaystackStep | undefined {
  if (status === 'send_otp') return payment_method === 'telecel_cash' ? voucher : otp // Telecel's customers generate a voucher
  return status === 'send_birthday' ? birthday : status === 'send_phone' ? phone : undefined
}

const underWay = new Set<unknown>(['pending', 'ongoing', 'processing', 'queued'])
const closedUnpaid = new Set<unknown>(['failed', 'timeout', 'abandoned'])
const endings = new Set<unknown>([...closedUnpaid, 'success', 'reversed'])

// Paystack or the network is working on the charge: it can still be paid, at any time.
export const isUnderWay = ({ status }: JsonAnswer) => underWay.has(status)

// The customer can no longer pay the charge. Undefined: Paystack has no such charge.
export const isUnpayable = ({ status }: JsonAnswer) => status === undefined || closedUnpaid.has(status)

// `verify` has to confirm these.
export const isEnding = ({ status }: JsonAnswer) => endings.has(status)

// The customer still has to approve on the phone or to enter a code.
export const isAwaitingCustomer = ({ status }: JsonAnswer) =>
  status === 'pay_offline' || status === 'open_url' || String(status).startsWith('send_')

// What an open charge requires of the customer.
export function chargeReply(order: Order, data: JsonAnswer): Reply {
  const { status, display_text, url } = data
  const text = typeof display_text === 'string' ? { text: display_text } : {}
  if (status === 'pay_offline' || isUnderWay(data)) return { state: 'pending', ...text }
  const step = stepFor(status, order)
  if (step) return { state: 'pending', step: { ...stepShown(step), ...text } }
  if (status === 'open_url' && typeof url === 'string')
    return { state: 'pending', redirect_url: url, ...text }
  const words = status === 'open_url' ? 'no address of the payment page' : `status ${paystackSample(status)}`
  return { state: 'unknown', words, acknowledged: true, unknownCode: paystackSample(status) }
}

const stepShown = ({ name, field }: PaystackStep): Step => ({ name, fields: [field] })

// The same step again, with Paystack's message about the input.
export const askAgain = (step: PaystackStep, text: string): Reply => ({
  state: 'pending',
  step: { ...stepShown(step), text },
})

const wrongCodes = [
  /token is invalid/i,
  /(invalid|incorrect|wrong).*(otp|code|voucher|birthday|phone)/i,
  /(otp|code|voucher|birthday|phone).*(invalid|incorrect|wrong)/i,
  /too many attempts/i,
]

// Paystack refused the input, and the step is still open.
export const isWrongCode = ({ http, message }: PaystackResponse) =>
  http >= 400 && http < 500 && wrongCodes.some(pattern => pattern.test(message))

// A charge that is paid. Amount, currency and order are returned as Paystack reports them; core compares them.
export function paidOf({ amount: due }: Order, data: JsonAnswer): Reply {
  const { reference, currency } = data
  const order = typeof reference === 'string' ? reference : ''
  const charged = subunits(data.amount)
  if (charged === undefined || typeof currency !== 'string') {
    const words = `Paystack says paid: ${shown(data.amount)} ${shown(currency)}, which is not an amount.`
    return { state: 'paid_mismatch', order, words, ...factsOf(data) }
  }
  const fee = subunits(data.fees)
  const costs = fee === undefined || fee > charged ? {} : { fee, net: charged - fee }
  const amounts = isFeeAdded(due, data) ? { amount: due, charged } : { amount: charged }
  return { state: 'paid', order, currency, ...amounts, ...costs, ...factsOf(data) }
}

// If the business passes the fee on to customers, Paystack adds it to the requested amount.
function isFeeAdded(due: bigint, data: JsonAnswer): boolean {
  const [charged, requested, fee] = [data.amount, data.requested_amount, data.fees].map(subunits)
  return requested === due && charged !== undefined && fee !== undefined && fee > 0n && charged === due + fee
}

// `declined`: the page is still open, and the customer may try another card.
export function unpaidOf(order: Order, data: JsonAnswer, state: 'failed' | 'declined'): Reply {
  const sentences = [data.gateway_response, data.message].filter(one => typeof one === 'string')
  const reason = reasonOf(sentences.join(' '), order.payment_method === 'card')
  return { state, reason, ...factsOf(data) }
}

function factsOf(data: JsonAnswer): ReplyFacts {
  const { gateway_response, message } = data
  const provider_ref = idOf(data.id)
  const provider_time = timeOf(data.paid_at) ?? lastErrorAt(data.log)
  const sentence = [gateway_response, message].find(one => typeof one === 'string' && one !== '')
  return {
    ...(provider_ref !== undefined && { provider_ref }),
    ...(typeof sentence === 'string' && { psp_response_msg: sentence }),
    ...(provider_time && { provider_time }),
    ...cardOf(data),
  }
}

// When a card was last declined on Paystack's page. The log counts seconds from the opening of the page.
function lastErrorAt(log: unknown): Date | undefined {
  const { start_time, history } = (log ?? {}) as JsonAnswer
  if (typeof start_time !== 'number' || !Array.isArray(history)) return undefined
  const errors = (history as (JsonAnswer | null)[]).filter(entry => entry?.type === 'error')
  const after = errors.at(-1)?.time
  return typeof after === 'number' ? new Date((start_time + after) * 1000) : undefined
}

// The part of the card that a receipt may show.
function cardOf({ channel, authorization }: JsonAnswer): ReplyFacts {
  if (channel !== 'card' || typeof authorization !== 'object' || authorization === null) return {}
  const { brand, last4 } = authorization as JsonAnswer
  if (typeof brand !== 'string' || !/^[a-z]/i.test(brand)) return {}
  const card_type = (brand.charAt(0).toUpperCase() + brand.slice(1)).trim()
  const isFour = typeof last4 === 'string' && /^\d{4}$/.test(last4)
  return { card_type, ...(isFour && { instrument: `${card_type} •••• ${last4}` }) }
}

const shown = (value: unknown) => String(value).slice(0, 40)

// Paystack gives the reason of a failed charge only as a message, which it, a network or a bank wrote and may change. The
// first pattern that matches counts; without a match the reason is `refused`. The message is stored with the attempt.
type Patterns = readonly (readonly [RegExp, Reason])[]

const commonReasons: Patterns = [
  [/insufficient|not enough|low.?balance/i, 'insufficient_funds'],
  [/limit/i, 'limit_reached'],
]

const walletReasons: Patterns = [
  ...commonReasons,
  [/otp|voucher|token/i, 'wrong_voucher'],
  [/time.?out|timed out|expired|no response|in time/i, 'no_answer'],
  [/inactive|not active|blocked|barred|suspend|dormant/i, 'wallet_blocked'],
  [
    /not registered|not found|no wallet|not exist|unknown subscriber|invalid.*(number|msisdn|phone)/i,
    'no_wallet',
  ],
  [/declin|reject|cancel|not approved|denied/i, 'declined'],
  [/unavailable|network|connect|system|switch|downtime/i, 'network_error'],
]

const cardReasons: Patterns = [
  ...commonReasons,
  [/expired.*card|card.*expired/i, 'card_expired'],
  [/cvv|cvc|security code/i, 'wrong_cvv'],
  [/authenticat|3.?d.?s(ecure)?\b|otp|token/i, 'not_authenticated'],
  [/cancel|abandon|closed/i, 'not_completed'],
  [/time.?out|timed out|in time/i, 'no_answer'],
  [/declin|honou?r|denied|restricted|stolen|lost|pick.?up|fraud/i, 'card_declined'],
  [/unavailable|inoperative|network|connect|system|switch|downtime/i, 'network_error'],
]

export const reasonOf = (message: string, isCard: boolean): Reason =>
  (isCard ? cardReasons : walletReasons).find(([pattern]) => pattern.test(message))?.[1] ?? 'refused'

// Messages that refuse this order for good, so an earlier sending of it cannot have been accepted either. Refusals that
// depend on the time or on the account's settings are not among them.
const refusals: Patterns = [
  [/invalid character in transaction reference/i, 'refused'],
  [/amount must be/i, 'refused'],
  [/invalid amount/i, 'refused'],
  [/email address is required/i, 'refused'],
  [/invalid email/i, 'refused'],
  [/currency not supported/i, 'account_trouble'],
  [/invalid.*(mobile|phone).*(number|format)/i, 'no_wallet'],
]

export const refusalOf = (message: string): Reason | undefined =>
  refusals.find(([pattern]) => pattern.test(message))?.[1]

// An amount in subunits, as a number or as digits.
export function subunits(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : undefined
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? BigInt(value) : undefined
}

export function idOf(value: unknown): string | undefined {
  return typeof value === 'number' || (typeof value === 'string' && value !== '') ? String(value) : undefined
}

export function timeOf(value: unknown): Date | undefined {
  const time = typeof value === 'string' ? new Date(value) : undefined
  return time && !Number.isNaN(time.getTime()) ? time : undefined
}
