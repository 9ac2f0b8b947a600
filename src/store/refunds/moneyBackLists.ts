import type { Mode } from '../../core/mode.ts'
import type { DisputeRecord, ReversalRecord } from '../../core/payment/change.ts'
import type { Refund, RefundState } from '../../core/refund/refund.ts'
import { sql, type Tx } from '../db.ts'

type Scope = { merchant_id: string; mode: Mode }

// The refunds of a merchant, newest first, behind one of them.
export const refundsBefore = (
  tx: Tx,
  { merchant_id, mode }: Scope,
  { state, before, limit }: { state?: RefundState; before?: string; limit: number },
) =>
  tx.rows<Refund>(sql`
    select * from refunds
    where merchant_id = ${merchant_id} and mode = ${mode} ${state ? sql`and state = ${state}` : sql``}
      ${
        before
          ? sql`and (created_at, refund_reference) < (
              select created_at, refund_reference from refunds
              where merchant_id = ${merchant_id} and refund_reference = ${before})`
          : sql``
      }
    order by created_at desc, refund_reference desc limit ${limit}`)

export type ListedDispute = DisputeRecord & { invoice_id: string }
export type ListedReversal = ReversalRecord & { invoice_id: string }

// A moment and an id: the place of a row in a list, newest first.
export type ListPlace = { at: Date; id: string }

export const disputesBefore = (
  tx: Tx,
  { merchant_id, mode }: Scope,
  { isOpen, before, limit }: { isOpen: boolean; before?: ListPlace; limit: number },
) =>
  tx.rows<ListedDispute>(sql`
    select d.*, p.invoice_id from disputes d
      join payments p on p.merchant_id = ${merchant_id} and p.tx_reference = d.tx_reference
    where d.merchant_id = ${merchant_id} and p.mode = ${mode} ${isOpen ? sql`and d.state = 'open'` : sql``}
      ${before ? sql`and (d.opened_at, d.dispute_id) < (${before.at}, ${before.id})` : sql``}
    order by d.opened_at desc, d.dispute_id desc limit ${limit}`)

// Without those that turned out to be one of our refunds.
export const reversalsBefore = (
  tx: Tx,
  { merchant_id, mode }: Scope,
  { before, limit }: { before?: ListPlace; limit: number },
) =>
  tx.rows<ListedReversal>(sql`
    select r.*, p.invoice_id from reversals r
      join payments p on p.merchant_id = ${merchant_id} and p.tx_reference = r.tx_reference
    where r.merchant_id = ${merchant_id} and p.mode = ${mode} and r.refund_reference is null
      ${before ? sql`and (r.created_at, r.reversal_id) < (${before.at}, ${before.id})` : sql``}
    order by r.created_at desc, r.reversal_id desc limit ${limit}`)
