import { randomUUID } from 'node:crypto'
import { formatMoney, parseReportedMoney } from '../../core/money.ts'
import type { ProviderRefunds, RefundOrder, RefundReply } from '../../core/provider/refundOrder.ts'
import { type Answered, type JsonAnswer, readJson } from '../http/providerHttp.ts'
import { type MtnClient, mtnNote } from './client.ts'
import {
  isMtnNotFound,
  isMtnReferenceUsed,
  mtnCodeOf,
  mtnHttpWords,
  mtnNotSent,
  unclearMtnReply,
} from './replies.ts'

const minutes = 60_000
const statusAfterRefusalMs = 5000 // a refusal must not be lost in the timeout of the question that follows it

type RefundTerms = {
  sandboxCurrency?: string
  callbackHeader(order: RefundOrder): Record<string, string>
}

// Refunds by MTN Disbursements: under our own reference, and by the reference of the request to pay.
export function mtnRefunds(
  client: MtnClient,
  { sandboxCurrency, callbackHeader }: RefundTerms,
): ProviderRefunds {
  async function checkRefund(order: RefundOrder, signal: AbortSignal): Promise<RefundReply> {
    const answered = await client.ask(`/refund/${encodeURIComponent(order.idempotency_key)}`, signal)
    return statusReply(order, answered, sandboxCurrency)
  }

  async function refund(order: RefundOrder, signal: AbortSignal): Promise<RefundReply> {
    const headers = { 'x-reference-id': order.idempotency_key, ...callbackHeader(order) }
    const answered = await client.send('/refund', headers, requestOf(order, sandboxCurrency), signal)
    const soon = AbortSignal.any([signal, AbortSignal.timeout(statusAfterRefusalMs)])
    return refundReply(order, answered, () => checkRefund(order, soon))
  }

  return {
    isIdempotent: true, // a used reference is answered 409
    hasPartial: true, // not documented; MTN refuses what it does not do
    visibleWithinMs: 15 * minutes, // not documented; as for requests to pay
    newIdempotencyKey: () => randomUUID(),
    refund,
    checkRefund,
  }
}

// MTN's replies name the refund by `externalId` only.
const requestOf = (order: RefundOrder, sandboxCurrency: string | undefined) => ({
  amount: formatMoney(order.amount, order.currency),
  currency: sandboxCurrency ?? order.currency,
  externalId: order.refund_reference,
  payerMessage: mtnNote(order.merchant_name),
  payeeNote: mtnNote(order.tx_reference),
  referenceIdToRefund: order.charge.idempotency_key,
})

// MTN's reply to a refund, by the rules for an order: see `startReply`. A refusal and a used reference are followed by one
// status question, because the refund's own status outranks both.
async function refundReply(
  order: RefundOrder,
  answered: Answered,
  askStatus: () => Promise<RefundReply>,
): Promise<RefundReply> {
  const { http } = answered
  if (http === 202) return { state: 'pending' }
  if (http === 401 || http === 403) return mtnNotSent(answered)
  const code = mtnCodeOf(readJson(answered.text))
  const provider_code = code ? { provider_code: code } : {}
  const isUsed = isMtnReferenceUsed(answered)
  const isRefused = !isUsed && (http === 400 || (http >= 400 && refusals.has(code ?? '')))
  if (!isUsed && !isRefused) return { ...unclearMtnReply(answered), ...provider_code }
  const status = await askStatus().catch((): RefundReply => ({ state: 'unknown', words: 'no status' }))
  if (status.state === 'absent' && isRefused && order.is_first_sending)
    return { state: 'failed', words: failureWords(code), isRefused: true, ...provider_code }
  if (status.state === 'absent') return { ...unclearMtnReply(answered), ...provider_code }
  if (status.state !== 'unknown') return status
  return { ...status, words: `${mtnHttpWords(answered)}, then ${status.words}`, ...provider_code }
}

// FAILED is final, whatever its reason: MTN does not continue a refund after a top-up of the float.
function statusReply(
  order: RefundOrder,
  answered: Answered,
  sandboxCurrency: string | undefined,
): RefundReply {
  const answer = readJson(answered.text)
  if (isMtnNotFound(answered)) return { state: 'absent' }
  if (answered.http !== 200 || !answer) return unclearMtnReply(answered)
  const { status } = answer
  if (status === 'SUCCESSFUL') return succeededReply(order, answer, sandboxCurrency)
  if (status === 'PENDING' || status === 'CREATED') return { state: 'pending', ...factsOf(answer) }
  const code = mtnCodeOf(answer.reason)
  if (status === 'FAILED')
    return {
      state: 'failed',
      words: failureWords(code),
      ...(code && { provider_code: code }),
      ...factsOf(answer),
    }
  // Digits could be a phone number.
  const known = typeof status === 'string' && /^[A-Za-z_ -]{1,60}$/.test(status) ? status : undefined
  return {
    state: 'unknown',
    words: `status ${known ?? 'that is not a code'}`,
    ...(typeof status === 'string' && { acknowledged: true }),
    ...(known && { provider_code: known }),
  }
}

function succeededReply(
  order: RefundOrder,
  answer: JsonAnswer,
  sandboxCurrency: string | undefined,
): RefundReply {
  const reported = answer.currency
  const currency = sandboxCurrency !== undefined && reported === sandboxCurrency ? order.currency : reported
  const amount = parseReportedMoney(String(answer.amount), currency, order.currency)
  return {
    state: 'succeeded',
    refund: typeof answer.externalId === 'string' ? answer.externalId : '',
    amount: typeof amount === 'bigint' ? amount : -1n, // an unreadable amount is another one than requested
    currency: typeof currency === 'string' ? currency : '',
    ...factsOf(answer),
  }
}

const factsOf = ({ financialTransactionId: id }: JsonAnswer) =>
  (typeof id === 'string' && id !== '') || typeof id === 'number' ? { provider_ref: String(id) } : {}

const lowFloat = 'The float of Disbursements at MTN is too low: top it up, then retry the refund.'
const ourAccount =
  'MTN does not accept the account for Disbursements or its settings. Ask MTN, then retry the refund.'

// Codes that refuse a refund for good, in a status or as the answer to the request.
const refusals = new Map<string, string>([
  ['NOT_ENOUGH_FUNDS', lowFloat],
  [
    'LOW_BALANCE_OR_PAYEE_LIMIT_REACHED_OR_NOT_ALLOWED',
    'The float of Disbursements at MTN is too low, or a limit of the customer’s wallet is reached: MTN does not say which.',
  ],
  ['PAYER_LIMIT_REACHED', 'A limit of the account for Disbursements at MTN is reached.'],
  ['PAYEE_NOT_FOUND', 'The customer’s wallet does not exist at MTN.'],
  ['PAYEE_NOT_ALLOWED_TO_RECEIVE', 'The customer’s wallet may not receive money.'],
  ['PAYEE_LIMIT_REACHED', 'A limit of the customer’s wallet is reached.'],
  ['TRANSACTION_NOT_FOUND', 'MTN does not find the charge.'],
  ['RESOURCE_NOT_FOUND', 'MTN does not find the charge.'],
  ['NOT_ALLOWED', ourAccount],
  ['INVALID_CURRENCY', ourAccount],
  ['NOT_ALLOWED_TARGET_ENVIRONMENT', ourAccount],
  ['INVALID_CALLBACK_URL_HOST', ourAccount],
  ['VALIDATION_ERROR', 'MTN refuses the request as invalid.'],
])

const failureWords = (code: string | undefined) =>
  refusals.get(code ?? '') ?? `MTN could not refund it${code ? `: ${code}` : ''}.`
