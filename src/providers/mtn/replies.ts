import type { Order } from '../../core/provider/order.ts'
import type { Reason } from '../../core/provider/reason.ts'
import type { Reply, ReplyFacts } from '../../core/provider/reply.ts'
import { parseReportedMoney } from '../../core/money.ts'
import { type Answered, type JsonAnswer, readJson } from '../http/providerHttp.ts'

const defaultPauseMs = 10_000 // after a 429 without Retry-After

// MTN's reply to an order. The first case that matches counts:
//   202            accepted
//   401, 403       MTN refused the caller before it read the order: not sent
//   a refusal      see `refusalOf`: failed, if MTN then has no such order and no earlier sending can have arrived
//   409            the reference is in use: the order's status counts
//   anything else  unknown
// A refusal and a 409 are followed by one status question, because the order's own status outranks both.
export async function startReply(
  order: Order,
  answered: Answered,
  askStatus: () => Promise<Reply>,
): Promise<Reply> {
  const { http } = answered
  if (http === 202) return { state: 'pending' }
  if (http === 401 || http === 403) return mtnNotSent(answered)
  const refusal = isMtnReferenceUsed(answered) ? undefined : refusalOf(answered)
  if (!refusal && !isMtnReferenceUsed(answered)) return unclearStart(answered)
  const status = await askStatus().catch(noStatus)
  if (status.state === 'absent')
    return refusal && order.is_first_sending
      ? { state: 'failed', isStartRefused: true, ...refusal }
      : { ...unclearMtnReply(answered), ...unknownFacts(order, answered, refusal) }
  if (status.state !== 'unknown') return status
  const words = `${mtnHttpWords(answered)}, then ${status.words}`
  return { ...status, words, ...unknownFacts(order, answered, refusal) }
}

const noStatus = (): UnknownReply => ({ state: 'unknown', words: 'no answer to the status question' })

type OrderRefusal = { reason: Reason; provider_code: string; unknownCode?: string }

// HTTP 400, a code of the table with any HTTP error, or the HTML page of a firewall in front of MTN. If there is no code,
// the HTTP status is stored instead.
function refusalOf({ http, text }: Answered): OrderRefusal | undefined {
  const code = mtnCodeOf(readJson(text))
  const known = knownCode(code)
  if (code && known && http >= 400 && (known.refusesOrder || http === 400))
    return { reason: known.reason, provider_code: code }
  if (http === 400) return unknownRefusal(code ?? 'HTTP 400')
  if (http === 200 && /^\s*</.test(text)) return unknownRefusal('HTTP 200, an HTML page')
  return undefined
}

const unknownRefusal = (code: string): OrderRefusal => ({
  reason: 'refused',
  provider_code: code,
  unknownCode: code,
})

export const isMtnReferenceUsed = ({ http, text }: Answered) =>
  http === 409 || mtnCodeOf(readJson(text)) === 'RESOURCE_ALREADY_EXIST'

// A reference in use proves that MTN has the order, unless MTN answered an earlier sending with an error: that one may have
// used the reference up without creating an order.
function unknownFacts(
  order: Order,
  answered: Answered,
  refusal: OrderRefusal | undefined,
): Partial<UnknownReply> {
  if (refusal)
    return {
      provider_code: refusal.provider_code,
      ...(refusal.unknownCode && { unknownCode: refusal.unknownCode }),
    }
  const hasOrder =
    mtnCodeOf(readJson(answered.text)) === 'RESOURCE_ALREADY_EXIST' && order.provider_code === null
  return hasOrder ? { acknowledged: true } : {}
}

export function mtnNotSent(answered: Answered): Reply & { state: 'not_sent' } {
  const provider_code = mtnCodeOf(readJson(answered.text))
  return {
    state: 'not_sent',
    words: mtnHttpWords(answered),
    isRefusal: true,
    ...(provider_code && { provider_code }),
  }
}

function unclearStart(answered: Answered): Reply {
  const code = mtnCodeOf(readJson(answered.text))
  return {
    ...unclearMtnReply(answered),
    ...(code && { provider_code: code }),
    ...(code && !knownCode(code) && { unknownCode: code }),
  }
}

// MTN's reply to a status question. The status counts before the reason: FAILED with an unknown reason is a failure.
export function statusReply(order: Order, answered: Answered, sandboxCurrency: string | undefined): Reply {
  const answer = readJson(answered.text)
  if (isMtnNotFound(answered)) return { state: 'absent' }
  if (answered.http !== 200 || !answer) return unclearMtnReply(answered)
  const { status } = answer
  if (status === 'SUCCESSFUL') return paidReply(order, answer, sandboxCurrency)
  if (status === 'FAILED') return failedReply(answer)
  if (status === 'PENDING' || status === 'CREATED') return { state: 'pending' } // CREATED is not documented
  return unknownStatus(status)
}

// MTN answers 404. HTTP 400 with the same code was also observed.
export const isMtnNotFound = ({ http, text }: Answered) =>
  (http === 404 || http === 400) && mtnCodeOf(readJson(text)) === 'RESOURCE_NOT_FOUND'

function paidReply(order: Order, answer: JsonAnswer, sandboxCurrency: string | undefined): Reply {
  const reported = answer.currency
  const currency = sandboxCurrency !== undefined && reported === sandboxCurrency ? order.currency : reported
  const amount = parseReportedMoney(String(answer.amount), currency, order.currency)
  const named = typeof answer.externalId === 'string' ? answer.externalId : ''
  if (typeof amount === 'string' || typeof currency !== 'string') {
    const words = `MTN says SUCCESSFUL, and its amount is unreadable: ${shown(answer.amount)} ${shown(reported)}.`
    return { state: 'paid_mismatch', order: named, words, ...factsOf(answer) }
  }
  return { state: 'paid', order: named, amount, currency, ...factsOf(answer) }
}

const shown = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? value : typeof value

function failedReply(answer: JsonAnswer): Reply {
  const code = mtnCodeOf(answer.reason)
  const known = knownCode(code)
  return {
    state: 'failed',
    reason: known?.reason ?? 'refused',
    ...(code && { provider_code: code }),
    ...(!known && { unknownCode: code ?? noCode }),
    ...factsOf(answer),
  }
}

function factsOf({ financialTransactionId: id }: JsonAnswer): ReplyFacts {
  return (typeof id === 'string' && id !== '') || typeof id === 'number' ? { provider_ref: String(id) } : {}
}

// An unknown status proves that MTN has the order. Digits could be a phone number, so a status with digits is not stored.
function unknownStatus(status: unknown): Reply {
  const code = typeof status === 'string' && /^[A-Za-z_ -]{1,60}$/.test(status) ? status : undefined
  return {
    state: 'unknown',
    words: `status ${code ?? noCode}`,
    ...(typeof status === 'string' && { acknowledged: true }),
    unknownCode: code ?? noCode,
    ...(code && { provider_code: code }),
  }
}

const noCode = 'that is not a code'

type UnknownReply = Reply & { state: 'unknown' }

// Neither an outcome nor a status.
export function unclearMtnReply(answered: Answered): UnknownReply {
  const { http, restMs = http === 429 ? defaultPauseMs : undefined } = answered
  return {
    state: 'unknown',
    words: mtnHttpWords(answered),
    ...(restMs !== undefined && { restMs }),
    ...((http === 401 || http === 403) && { isRefusal: true }),
  }
}

export function mtnHttpWords({ http, text }: Answered): string {
  const answer = readJson(text)
  const what = mtnCodeOf(answer) ?? (answer || text === '' ? '' : 'with a text that is not JSON')
  return `HTTP ${http} ${what}`.trim()
}

// MTN's error codes. With the status FAILED each of them is final. `refusesOrder`: as the reply to the order itself, with
// any HTTP status, the code means that MTN did not accept it; the other codes prove nothing there.
type KnownCode = { reason: Reason; refusesOrder?: true }

const codes = new Map<string, KnownCode>([
  // The commonest production decline: too little money or a wallet limit; MTN does not say which.
  ['LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED', { reason: 'insufficient_funds', refusesOrder: true }],
  ['NOT_ENOUGH_FUNDS', { reason: 'insufficient_funds', refusesOrder: true }],
  ['PAYER_LIMIT_REACHED', { reason: 'limit_reached', refusesOrder: true }],
  ['PAYER_NOT_FOUND', { reason: 'no_wallet', refusesOrder: true }],
  ['SENDER_ACCOUNT_NOT_ACTIVE', { reason: 'wallet_blocked', refusesOrder: true }],
  ['APPROVAL_REJECTED', { reason: 'declined' }],
  ['PAYMENT_NOT_APPROVED', { reason: 'declined' }],
  ['EXPIRED', { reason: 'no_answer' }],
  ['COULD_NOT_PERFORM_TRANSACTION', { reason: 'no_answer' }], // MTN's error page: not approved within five minutes
  ['PAYEE_NOT_FOUND', { reason: 'account_trouble', refusesOrder: true }],
  ['PAYEE_NOT_ALLOWED_TO_RECEIVE', { reason: 'account_trouble', refusesOrder: true }],
  ['PAYEE_LIMIT_REACHED', { reason: 'account_trouble', refusesOrder: true }],
  ['NOT_ALLOWED', { reason: 'account_trouble', refusesOrder: true }],
  ['INVALID_CURRENCY', { reason: 'account_trouble', refusesOrder: true }],
  ['NOT_ALLOWED_TARGET_ENVIRONMENT', { reason: 'account_trouble', refusesOrder: true }],
  ['INVALID_CALLBACK_URL_HOST', { reason: 'account_trouble', refusesOrder: true }],
  ['INTERNAL_PROCESSING_ERROR', { reason: 'provider_error' }], // often too little money in the wallet; MTN does not say
  ['SERVICE_UNAVAILABLE', { reason: 'provider_error' }],
  ['TRANSACTION_CANCELED', { reason: 'refused' }], // by whom is not documented
  ['TRANSACTION_NOT_FOUND', { reason: 'refused' }],
  ['VALIDATION_ERROR', { reason: 'refused', refusesOrder: true }],
])

const knownCode = (code: string | undefined): KnownCode | undefined => codes.get(code ?? '')

// The sandbox sends the bare code, the published schema has an object with a code. Five digits in a row could be part of a
// phone number, so such a text is not a code.
export function mtnCodeOf(value: unknown): string | undefined {
  const code = typeof value === 'object' && value !== null ? (value as { code?: unknown }).code : value
  return typeof code === 'string' && /^(?!.*\d{5})[A-Z][A-Z0-9_]{1,99}$/.test(code) ? code : undefined
}
