import type { Refund } from '../../core/refund/refund.ts'
import { sql, type Tx } from '../db.ts'

const maxListed = 100

export type NamedRefund = Refund & { merchant_name: string }

// The refunds of all merchants that wait for an operator, the oldest first.
export const refundsToRecord = (tx: Tx) =>
  tx.rows<NamedRefund>(sql`
    select r.*, m.name as merchant_name from refunds r, merchants m
    where r.state in ('needs_action', 'unknown') and m.merchant_id = r.merchant_id
    order by r.created_at limit ${maxListed}`)
