import type { Dispute, DisputeState, Reversal } from '../../core/provider/reply.ts'
import {
  type PaystackClient,
  type PaystackResponse,
  paystackSample,
  type PaystackUnknownReply,
  unclearPaystackReply,
} from './client.ts'
import type { JsonAnswer } from '../http/providerHttp.ts'
import { idOf, subunits, timeOf } from './replies.ts'

// Refunds and disputes of one transaction. An unreadable one makes the whole reply unknown, so that it is read again: a
// refund that is left out would be missing in the accounts.
const perPage = 25 // about 1 kB each, so a page stays below the size limit of a response
const mostPages = 40 // the filter by transaction is not always documented
const merchantIdLength = 10 // attempt ids and refund references begin with the merchant's id
const day = 86_400_000 // more than the clocks can differ by

export type Transaction = { id: string; reference: string; charged: bigint; startedAt: Date }

// `dispute`: the lost dispute that caused the refund.
export type Refund = { reversal: Reversal; isPending: boolean; dispute?: string }

// The refunds that moved money. A refund of a lost dispute is left out: the dispute already counts.
export function reversalsOf(refunds: readonly Refund[], disputes: readonly Dispute[] = []): Reversal[] {
  const lost = lostOf(disputes)
  return refunds
    .filter(({ isPending, dispute = '' }) => !isPending && !lost.has(dispute))
    .map(({ reversal }) => reversal)
}

const lostOf = (disputes: readonly Dispute[]) =>
  new Set(disputes.filter(({ state }) => state === 'lost').map(({ id }) => id))

// The same for a reversed transaction. Without a refund or a lost dispute, Paystack itself reversed all of it; that reversal
// always has the same id. Undefined: a refund is still being processed.
export function reversalsOfReversed(
  { charged }: Transaction,
  refunds: readonly Refund[],
  disputes: readonly Dispute[] = [],
): Reversal[] | undefined {
  const reversals = reversalsOf(refunds, disputes)
  if (reversals.length > 0 || lostOf(disputes).size > 0) return reversals
  if (refunds.length > 0) return undefined
  return [{ id: 'reversed', amount: charged, words: 'Paystack reversed the transaction.' }]
}

// If Paystack made several refunds for one of our refunds, only the first is ours.
export async function readRefunds(
  client: PaystackClient,
  transaction: Transaction,
  signal: AbortSignal,
): Promise<Refund[] | PaystackUnknownReply> {
  const records = await listRefundRecords(client, transaction, signal)
  if (!Array.isArray(records)) return records
  const found: Refund[] = []
  const references = new Set<string>()
  for (const record of records.toSorted((one, other) => Number(one.id) - Number(other.id))) {
    const refund = refundOf(record)
    if (refund === 'unreadable') return unreadable('A refund is not readable.')
    if (!refund) continue
    const refund_reference = refundReferenceIn(record, transaction)
    const isOurs = refund_reference !== undefined && !references.has(refund_reference)
    if (isOurs) references.add(refund_reference)
    found.push(isOurs ? { ...refund, reversal: { ...refund.reversal, refund_reference } } : refund)
  }
  return found
}

// The refund_reference in the note of a refund, which `POST /refund` sends. The note that Paystack writes by default names
// the reference of the transaction, which has the same form.
export function refundReferenceIn(
  { merchant_note }: JsonAnswer,
  { reference }: Pick<Transaction, 'reference'>,
): string | undefined {
  const names = typeof merchant_note === 'string' ? merchant_note.match(/\b[0-9a-z]{36}\b/g) : null
  return names?.find(name => name !== reference && name.startsWith(reference.slice(0, merchantIdLength)))
}

// All refunds of the transaction, as Paystack lists them, each with an id.
export async function listRefundRecords(
  client: PaystackClient,
  transaction: Transaction,
  signal: AbortSignal,
): Promise<JsonAnswer[] | PaystackUnknownReply> {
  const found = new Map<string, JsonAnswer>() // by id: a new refund shifts the pages
  const from = new Date(transaction.startedAt.getTime() - day).toISOString()
  for (let page = 1; page <= mostPages; page++) {
    const query = new URLSearchParams({
      transaction: transaction.id,
      from,
      perPage: `${perPage}`,
      page: `${page}`,
    })
    const response = await client.ask(`/refund?${query.toString()}`, signal)
    if (!response.isHandled) return unclearPaystackReply(response)
    if (!Array.isArray(response.rawData)) return unreadable('The refunds are not a list.')
    for (const one of response.rawData as unknown[]) {
      const belongs = belongsTo(transaction, one)
      const id = idOf((one as JsonAnswer | null)?.id)
      if (belongs === undefined || (belongs && id === undefined))
        return unreadable('A refund is not readable.')
      if (belongs && id !== undefined) found.set(id, one as JsonAnswer)
    }
    if (response.rawData.length < perPage) return [...found.values()]
  }
  return unreadable('The list of refunds has no end.')
}

const pendingStates = new Set<unknown>(['pending', 'processing', 'needs-attention'])

// Undefined: a failed refund, which moves no money.
function refundOf(refund: JsonAnswer): Refund | 'unreadable' | undefined {
  const isPending = pendingStates.has(refund.status)
  if (!isPending && refund.status !== 'processed') return undefined
  const id = idOf(refund.id)
  const amount = subunits(refund.amount)
  if (id === undefined || amount === undefined) return 'unreadable'
  const at = timeOf(refund.refunded_at)
  const dispute = idOf(refund.dispute)
  const words = 'Paystack refunded it.'
  return { reversal: { id, amount, words, ...(at && { at }) }, isPending, ...(dispute && { dispute }) }
}

// The endpoint is named a list but documented to return one object, so both are read. 404: there is no dispute.
export async function readDisputes(
  client: PaystackClient,
  transaction: Transaction,
  signal: AbortSignal,
): Promise<Dispute[] | PaystackUnknownReply> {
  const response = await client.ask(`/dispute/transaction/${encodeURIComponent(transaction.id)}`, signal)
  if (isNone(response)) return []
  if (!response.isHandled) return unclearPaystackReply(response)
  const found: Dispute[] = []
  for (const one of listOf(response)) {
    if (belongsTo(transaction, one) === false) continue
    const dispute = disputeOf(transaction, one)
    if (!dispute) return unreadable('A dispute is not readable.')
    found.push(dispute)
  }
  return found
}

const isNone = ({ http, code = '', message }: PaystackResponse) =>
  http === 404 && (/dispute.*not.?found/i.test(code) || /(dispute.*not found|no dispute)/i.test(message))

function listOf({ rawData }: PaystackResponse): (JsonAnswer | null | undefined)[] {
  if (Array.isArray(rawData)) return rawData as JsonAnswer[]
  return rawData === null || rawData === undefined ? [] : [rawData as JsonAnswer]
}

function disputeOf(transaction: Transaction, raw: JsonAnswer | null | undefined): Dispute | undefined {
  const { refund_amount, category, dueAt, due_at = dueAt, ...rest } = raw ?? {}
  const id = idOf(rest.id)
  const amount = refund_amount === null ? transaction.charged : subunits(refund_amount)
  if (id === undefined || amount === undefined) return undefined
  const due = timeOf(due_at)
  const words = typeof category === 'string' ? `Category: ${paystackSample(category)}.` : ''
  return { id, state: disputeState(rest), amount, words, ...(due && { due_at: due }) }
}

const closed = new Set<unknown>(['resolved', 'archived'])

// While the bank decides, `resolution` is the merchant's proposal. `merchant-accepted` returns the money; `declined` means
// that the merchant won.
function disputeState({ status, resolution }: JsonAnswer): DisputeState {
  if (!closed.has(status)) return 'open'
  return resolution === 'merchant-accepted' ? 'lost' : resolution === 'declined' ? 'won' : 'open'
}

// A refund names its transaction by an integer, an object or a reference. Undefined: by none.
export function belongsTo({ id, reference }: Transaction, record: unknown): boolean | undefined {
  if (typeof record !== 'object' || record === null) return undefined
  const { transaction, transaction_reference } = record as JsonAnswer
  const named = (typeof transaction === 'object' && transaction !== null ? transaction : {}) as JsonAnswer
  const itsId = idOf(named.id) ?? idOf(transaction)
  const itsReference = named.reference ?? transaction_reference
  if (itsId !== undefined) return itsId === id
  if (typeof itsReference === 'string') return itsReference === reference
  return undefined
}

const unreadable = (words: string): PaystackUnknownReply => ({ state: 'unknown', words, acknowledged: true })
