import type { Dispute, DisputeState, Reversal } from '../../core/provider/reply.ts'
import {
  type PaystackClient,
  type PaystackResponse,
  paystackSample,
  type PaystackUnknownReply,
  unclearPaystackReply,
} from './client.ts'
import type { JsonAnswer } from '../http/providerHttp.ts'
import { idOf, subunits, timeOf } from './values.ts'

// Refunds and disputes of one transaction. Whatever cannot be read makes the answer unknown, so that it is asked again:
// a refund that we left out would be money that nobody accounts for.
const perPage = 25 // about 1 kB each: a page stays below the limit of an answer
const mostPages = 40 // the filter by transaction is not in every version of the documentation
const day = 86_400_000 // more than Paystack's clock and ours can differ by

export type Transaction = { id: string; reference: string; charged: bigint; startedAt: Date }

// `dispute`: it was made because that dispute was lost.
export type Refund = { reversal: Reversal; isPending: boolean; dispute?: string }

// The refunds that moved money. One that follows a lost dispute is the same money as the dispute.
export function reversalsOf(refunds: readonly Refund[], disputes: readonly Dispute[] = []): Reversal[] {
  const lost = lostOf(disputes)
  return refunds
    .filter(({ isPending, dispute = '' }) => !isPending && !lost.has(dispute))
    .map(({ reversal }) => reversal)
}

const lostOf = (disputes: readonly Dispute[]) =>
  new Set(disputes.filter(({ state }) => state === 'lost').map(({ id }) => id))

// The same of a transaction that is reversed. Where nothing explains that, Paystack reversed it by itself, all of it; the
// id is the same each time. Undefined: a refund is still under way.
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

export async function readRefunds(
  line: PaystackClient,
  transaction: Transaction,
  signal: AbortSignal,
): Promise<Refund[] | PaystackUnknownReply> {
  const found = new Map<string, Refund>() // a refund that is made meanwhile shifts the pages
  const from = new Date(transaction.startedAt.getTime() - day).toISOString()
  for (let page = 1; page <= mostPages; page++) {
    const query = new URLSearchParams({
      transaction: transaction.id,
      from,
      perPage: `${perPage}`,
      page: `${page}`,
    })
    const said = await line.ask(`/refund?${query.toString()}`, signal)
    if (!said.isHandled) return unclearPaystackReply(said)
    if (!Array.isArray(said.rawData)) return unreadable('The refunds are not a list.')
    for (const one of said.rawData as unknown[]) {
      const isIts = belongsTo(transaction, one)
      const refund = isIts ? refundOf(one as JsonAnswer) : undefined
      if (isIts === undefined || refund === 'unreadable') return unreadable('A refund is not readable.')
      if (refund) found.set(refund.reversal.id, refund)
    }
    if (said.rawData.length < perPage) return [...found.values()]
  }
  return unreadable('The list of refunds has no end.')
}

const pendingStates = new Set<unknown>(['pending', 'processing', 'needs-attention'])

// Undefined: it moved no money and will not, as a failed one. Amounts are numbers or text.
function refundOf(told: JsonAnswer): Refund | 'unreadable' | undefined {
  const isPending = pendingStates.has(told.status)
  if (!isPending && told.status !== 'processed') return undefined
  const id = idOf(told.id)
  const amount = subunits(told.amount)
  if (id === undefined || amount === undefined) return 'unreadable'
  const at = timeOf(told.refunded_at)
  const dispute = idOf(told.dispute)
  const words = 'Paystack refunded it.'
  return { reversal: { id, amount, words, ...(at && { at }) }, isPending, ...(dispute && { dispute }) }
}

// The endpoint is called a list, and documented to answer one object; both are read. 404: there is none.
export async function readDisputes(
  line: PaystackClient,
  transaction: Transaction,
  signal: AbortSignal,
): Promise<Dispute[] | PaystackUnknownReply> {
  const said = await line.ask(`/dispute/transaction/${encodeURIComponent(transaction.id)}`, signal)
  if (isNone(said)) return []
  if (!said.isHandled) return unclearPaystackReply(said)
  const found: Dispute[] = []
  for (const one of listOf(said)) {
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

function disputeOf(transaction: Transaction, told: JsonAnswer | null | undefined): Dispute | undefined {
  const { refund_amount, category, dueAt, due_at = dueAt, ...rest } = told ?? {}
  const id = idOf(rest.id)
  const amount = refund_amount === null ? transaction.charged : subunits(refund_amount)
  if (id === undefined || amount === undefined) return undefined
  const due = timeOf(due_at)
  const words = typeof category === 'string' ? `Category: ${paystackSample(category)}.` : ''
  return { id, state: disputeState(rest), amount, words, ...(due && { due_at: due }) }
}

const closed = new Set<unknown>(['resolved', 'archived'])

// `resolution` is also what the merchant proposed while the bank still decides. `merchant-accepted` gives the money back;
// `declined` is the merchant's refusal, upheld.
function disputeState({ status, resolution }: JsonAnswer): DisputeState {
  if (!closed.has(status)) return 'open'
  return resolution === 'merchant-accepted' ? 'lost' : resolution === 'declined' ? 'won' : 'open'
}

// Refunds name their transaction by an integer, an object or a reference. Undefined: it names none.
function belongsTo({ id, reference }: Transaction, told: unknown): boolean | undefined {
  if (typeof told !== 'object' || told === null) return undefined
  const { transaction, transaction_reference } = told as JsonAnswer
  const named = (typeof transaction === 'object' && transaction !== null ? transaction : {}) as JsonAnswer
  const itsId = idOf(named.id) ?? idOf(transaction)
  const itsReference = named.reference ?? transaction_reference
  if (itsId !== undefined) return itsId === id
  if (typeof itsReference === 'string') return itsReference === reference
  return undefined
}

const unreadable = (words: string): PaystackUnknownReply => ({ state: 'unknown', words, acknowledged: true })
