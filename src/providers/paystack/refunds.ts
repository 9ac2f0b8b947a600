import type { ProviderRefunds, RefundOrder, RefundReply } from '../../core/provider/refundOrder.ts'
import type { ProviderTiming } from '../../core/provider/provider.ts'
import { cleanError } from '../../core/text.ts'
import type { JsonAnswer } from '../http/providerHttp.ts'
import {
  type PaystackClient,
  paystackErrorKind,
  type PaystackResponse,
  paystackSample,
  providerCode,
  unclearPaystackReply,
} from './client.ts'
import { belongsTo, listRefundRecords, refundReferenceIn, type Transaction } from './moneyBack.ts'
import { idOf, subunits, timeOf } from './replies.ts'

const seconds = 1000
const slackMs = 300_000 // for clock differences
const maxWords = 200

// Paystack refunds within hours or days, and a webhook prompts a poll.
export const paystackRefundTiming: ProviderTiming = {
  firstPollMs: 10 * seconds,
  pollGapsMs: [10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600].map(gap => gap * seconds),
  startTimeoutMs: 30 * seconds,
  pollTimeoutMs: 15 * seconds,
}

// Paystack lets us choose no id for a refund, so the refund_reference is sent as the merchant's note. After a lost answer the
// refunds of the transaction are listed, and the note identifies ours. How soon the list is complete is not documented,
// so a refund that is not in it may still exist: it is never sent again.
export const paystackRefunds = (client: PaystackClient): ProviderRefunds => ({
  isIdempotent: false,
  hasPartial: true,
  refund: (order, signal) => refund(client, order, signal),
  checkRefund: (order, signal) =>
    order.provider_ref === null
      ? findRefund(client, order, signal)
      : readRefund(client, order, order.provider_ref, signal),
})

async function refund(client: PaystackClient, order: RefundOrder, signal: AbortSignal): Promise<RefundReply> {
  const body = {
    transaction: order.charge.idempotency_key,
    amount: Number(order.amount), // exact: no charge has 16 digits
    currency: order.currency,
    merchant_note: order.refund_reference,
  }
  const response = await client.send('/refund', body, signal)
  if (paystackErrorKind(response) === 'key_refused') {
    const words = `Paystack does not accept the secret key (HTTP ${response.http}).`
    return { state: 'not_sent', words, isRefusal: true, ...providerCode(response) }
  }
  if (isRequestRefused(response)) return refusedReply(client, order, response, signal)
  if (!response.isHandled) return unclearPaystackReply(response)
  return belongsTo(transactionOf(order), response.data)
    ? replyOfRecord(order, response.data)
    : { state: 'unknown', words: 'The answer is about another transaction.' }
}

// Paystack refused the request itself. The list shows whether it made the refund nevertheless.
const isRequestRefused = (response: PaystackResponse) =>
  [400, 404, 422].includes(response.http) &&
  response.message !== '' &&
  paystackErrorKind(response) !== 'rate_limited'

async function refusedReply(
  client: PaystackClient,
  order: RefundOrder,
  response: PaystackResponse,
  signal: AbortSignal,
): Promise<RefundReply> {
  const found = await findRefund(client, order, signal).catch(
    (error: unknown): RefundReply => ({ state: 'unknown', words: cleanError(error, maxWords) }),
  )
  if (found.state === 'unknown')
    return { ...found, words: `HTTP ${response.http}, then ${found.words}`, ...providerCode(response) }
  if (found.state !== 'absent') return found
  return { state: 'failed', words: refusalWords(response), isRefused: true, ...providerCode(response) }
}

// Too little balance refuses the request, so Paystack has no refund that could continue after a top-up.
function refusalWords({ message }: PaystackResponse): string {
  const said = `Paystack refused the refund: ${paystackSample(message)}`
  return /(balance|fund).*(insufficient|not enough|too low|low)|(insufficient|not enough|low).*(balance|fund)/i.test(
    message,
  )
    ? `${said}. Top up the balance at Paystack, then retry the refund.`
    : said
}

const transactionOf = ({ charge }: RefundOrder): Transaction => ({
  id: charge.provider_ref ?? '',
  reference: charge.idempotency_key,
  charged: charge.amount,
  startedAt: charge.started_at,
})

async function readRefund(
  client: PaystackClient,
  order: RefundOrder,
  id: string,
  signal: AbortSignal,
): Promise<RefundReply> {
  const response = await client.ask(`/refund/${encodeURIComponent(id)}`, signal)
  if (!response.isHandled) return { ...unclearPaystackReply(response), acknowledged: true }
  const isSame = idOf(response.data.id) === id && belongsTo(transactionOf(order), response.data) !== false
  return isSame
    ? replyOfRecord(order, response.data)
    : { state: 'unknown', words: 'The answer is about another refund.', acknowledged: true }
}

// Finds the refund among those of the transaction by its note.
async function findRefund(
  client: PaystackClient,
  order: RefundOrder,
  signal: AbortSignal,
): Promise<RefundReply> {
  const transaction = transactionOf(order)
  if (transaction.id === '') return { state: 'unknown', words: 'The transaction has no id.' }
  const records = await listRefundRecords(client, transaction, signal)
  if (!Array.isArray(records)) {
    const { acknowledged: _, ...unclear } = records // the list proves nothing about this refund
    return unclear
  }
  const ours = records.filter(record => refundReferenceIn(record, transaction) === order.refund_reference)
  const moving = ours.filter(({ status }) => status !== 'failed')
  if (moving.length > 1) return severalReply(order, moving)
  const record = moving[0] ?? ours[0]
  if (record) return replyOfRecord(order, record)
  return records.some(one => mayBeOurs(order, transaction, one))
    ? { state: 'unknown', words: 'Paystack lists a refund of this amount without our note.' }
    : { state: 'absent' }
}

// A refund of the same amount that was made since this one was sent, and that no other of our refunds explains. It could
// be ours with a lost note, or one of the dashboard.
function mayBeOurs(order: RefundOrder, transaction: Transaction, record: JsonAnswer): boolean {
  const madeAt = timeOf(record.createdAt ?? record.created_at)
  const sentAt = order.sent_at ?? order.requested_at
  return (
    subunits(record.amount) === order.amount &&
    !order.other_refs.includes(idOf(record.id) ?? '') &&
    refundReferenceIn(record, transaction) === undefined &&
    (madeAt === undefined || madeAt.getTime() > sentAt.getTime() - slackMs)
  )
}

// Paystack made more than one refund of a single request. The sum differs from the requested amount, which raises a task.
function severalReply(order: RefundOrder, records: readonly JsonAnswer[]): RefundReply {
  const amount = records.reduce((sum, one) => sum + (subunits(one.amount) ?? 0n), 0n)
  const provider_ref = records.map(one => idOf(one.id)).join(', ')
  return {
    state: 'succeeded',
    refund: order.refund_reference,
    amount,
    currency: order.currency,
    provider_ref,
  }
}

function replyOfRecord(order: RefundOrder, record: JsonAnswer): RefundReply {
  const { status } = record
  const id = idOf(record.id)
  const facts = {
    ...(id !== undefined && { provider_ref: id }),
    ...(typeof status === 'string' && { provider_code: paystackSample(status) }),
  }
  if (status === 'pending' || status === 'processing') return { state: 'pending', ...facts }
  if (status === 'needs-attention') return { state: 'needs_action', words: needsAttention, ...facts }
  if (status === 'failed') return { state: 'failed', words: failureWords(record), ...facts }
  if (status === 'processed') return processedReply(order, record, facts)
  const provider_code = paystackSample(status)
  return { state: 'unknown', words: `status ${provider_code}`, acknowledged: true, provider_code }
}

const needsAttention =
  'Paystack cannot reach the account that paid. Open the refund on the dashboard of Paystack and enter a bank account of the customer.'

const failureWords = ({ reason }: JsonAnswer) =>
  typeof reason === 'string' && reason !== ''
    ? `Paystack could not refund it: ${paystackSample(reason)}`
    : 'Paystack could not refund it, and returned the money to the balance.'

type RecordFacts = { provider_ref?: string; provider_code?: string }

// The refund is named by its note, or by the id that an earlier answer gave it. The answer to the request itself may lack
// the note: then the next check reads the refund by its id.
function processedReply(order: RefundOrder, record: JsonAnswer, facts: RecordFacts): RefundReply {
  const refund_reference = refundReferenceIn(record, transactionOf(order))
  const isKnownId = order.provider_ref !== null && facts.provider_ref === order.provider_ref
  if (refund_reference === undefined && !isKnownId) return { state: 'pending', ...facts }
  const provider_time = timeOf(record.refunded_at)
  return {
    state: 'succeeded',
    refund: refund_reference ?? order.idempotency_key,
    amount: subunits(record.amount) ?? -1n, // an unreadable amount is another one than requested
    currency: typeof record.currency === 'string' ? record.currency : '',
    ...facts,
    ...(provider_time && { provider_time }),
  }
}
