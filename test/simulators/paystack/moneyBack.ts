import type { SimulatorReply, Trouble } from '../simulator.ts'
import { bad, good } from './api.ts'
import { type Charge, type Terms, transactionOf } from './charges.ts'

// Refunds and disputes of transactions, as Paystack lists them.
export const refundStates = ['pending', 'processing', 'needs-attention', 'processed', 'failed'] as const
export type RefundState = (typeof refundStates)[number]
export type Refund = {
  id: number
  amount: number
  status: RefundState
  dispute: number | null
  at: number
  note?: string // the merchant's; undefined: Paystack's default
  story?: RefundStory // of a refund by POST /refund
  reads?: number
}

// What becomes of a refund by POST /refund. By default it is pending at the first read, then processed.
export type RefundStory = {
  refuses?: SimulatorReply // instead of a refund
  lost?: Trouble // how the answer gets lost; the refund exists
  isMade?: boolean // with `lost`; false: it does not exist
  times?: number // refunds that are made of one request
  amount?: number // refunded instead of the requested one
  note?: 'hidden' | 'default' // what the list shows instead of ours
  first?: RefundState // in the answer
  ends?: RefundState | 'never'
  afterReads?: number // that still return the first state; default 1
  hiddenReads?: number // lists that do not contain it yet
  isStale?: boolean // a webhook with the first state follows the one with the last
}

export type Resolution = 'merchant-accepted' | 'declined'
export type Dispute = {
  id: number
  amount: number
  status: 'awaiting-merchant-feedback' | 'awaiting-bank-feedback' | 'pending' | 'resolved'
  resolution: Resolution | null
  due_at: number
  at: number
}

const iso = (at: number) => new Date(at).toISOString()

// `transaction` is an integer here; the answer to POST /refund has an object.
export const refundOf = (
  charge: Charge,
  { id, amount, status, dispute, at, note, story }: Refund,
  terms: Terms,
) => ({
  integration: 100_043,
  transaction: charge.id,
  dispute,
  settlement: null,
  id,
  domain: terms.domain,
  currency: charge.currency,
  amount,
  status,
  refunded_at: status === 'processed' ? iso(at) : null,
  refunded_by: 'owner@example.test',
  customer_note: `Refund for transaction ${charge.reference}`,
  ...(story?.note !== 'hidden' && {
    merchant_note: story?.note === 'default' || !note ? `Refund for transaction ${charge.reference}` : note,
  }),
  deducted_amount: status === 'pending' ? 0 : amount,
  fully_deducted: status === 'pending' ? 0 : 1,
  createdAt: iso(at),
  bank_reference: null,
  transaction_reference: charge.reference,
  transaction_amount: charge.amount,
})

// The refund as in a webhook: the amount is text, and there is no id unless attention is needed.
export const refundUpdate = (
  { reference, currency }: Charge,
  { id, amount, status }: Refund,
  { domain }: Terms,
) => ({
  status,
  transaction_reference: reference,
  refund_reference: null,
  amount: String(amount),
  currency,
  processor: 'mobile_money',
  integration: 100_043,
  domain,
  ...(status === 'needs-attention' && { id: String(id) }),
})

export const disputeOf = (charge: Charge, dispute: Dispute, terms: Terms, now: number) => ({
  id: dispute.id,
  refund_amount: dispute.amount,
  currency: charge.currency,
  status: dispute.status,
  resolution: dispute.resolution,
  domain: terms.domain,
  transaction: transactionOf(charge, terms, now),
  transaction_reference: null,
  category: 'chargeback',
  bin: null,
  last4: null,
  dueAt: iso(dispute.due_at),
  resolvedAt: dispute.status === 'resolved' ? iso(now) : null,
  createdAt: iso(dispute.at),
  history: [],
  messages: [],
})

type Books = { charges: ReadonlyMap<string, Charge>; terms: Terms }

// GET /refund, filtered by the transaction's id and in pages.
export function listRefunds({ charges, terms }: Books, query: URLSearchParams): SimulatorReply {
  const wanted = query.get('transaction')
  const perPage = Number(query.get('perPage') ?? 50)
  const page = Number(query.get('page') ?? 1)
  const from = new Date(query.get('from') ?? 0).getTime()
  const all = [...charges.values()]
    .filter(({ id }) => wanted === null || String(id) === wanted)
    .flatMap(charge =>
      charge.refunds.filter(one => one.at >= from && !isHidden(one)).map(one => refundOf(charge, one, terms)),
    )
  const first = (page - 1) * perPage
  const meta = {
    total: all.length,
    skipped: first,
    perPage,
    page,
    pageCount: Math.ceil(all.length / perPage),
  }
  return {
    status: 200,
    body: { status: true, message: 'Refunds retrieved', data: all.slice(first, first + perPage), meta },
  }
}

const isHidden = ({ reads = 0, story }: Refund) => reads <= (story?.hiddenReads ?? -1)

export function fetchRefund({ charges, terms }: Books, id: string): SimulatorReply {
  for (const charge of charges.values())
    for (const refund of charge.refunds)
      if (String(refund.id) === id) return good('Refund retrieved', refundOf(charge, refund, terms))
  return bad(404, 'Refund not found', 'refund_not_found')
}

// GET /dispute/transaction/{id}: one is an object, several are a list, none is 404.
export function disputesOfTransaction({ charges, terms }: Books, id: string): SimulatorReply {
  const charge = [...charges.values()].find(one => String(one.id) === id)
  const all = charge?.disputes.map(dispute => disputeOf(charge, dispute, terms, Date.now())) ?? []
  if (all.length === 0) return bad(404, 'Dispute not found', 'dispute_not_found')
  return good('Dispute retrieved', all.length === 1 ? all[0] : all)
}

export function fetchDispute({ charges, terms }: Books, id: string): SimulatorReply {
  for (const charge of charges.values())
    for (const dispute of charge.disputes)
      if (String(dispute.id) === id)
        return good('Dispute retrieved', disputeOf(charge, dispute, terms, Date.now()))
  return bad(404, 'Dispute not found', 'dispute_not_found')
}
