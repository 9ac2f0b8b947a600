import type { Attempt } from '../../core/payment/attempt.ts'
import type { DisputeRecord, MoneyBack, ReversalRecord } from '../../core/payment/change.ts'
import { named, type Tx } from '../db.ts'

// The reversals and disputes of an attempt. The caller has locked its row, so no other transaction adds one. A reversal that
// turned out to be one of our refunds is left out.
export async function moneyBackOf(
  tx: Tx,
  { merchant_id, attempt_id }: Pick<Attempt, 'merchant_id' | 'attempt_id'>,
): Promise<MoneyBack> {
  const reversals = await tx.rows<ReversalRecord>(named('reversals_of')`
    select * from reversals where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and refund_reference is null
    order by created_at, reversal_id`)
  const disputes = await tx.rows<DisputeRecord>(named('disputes_of')`
    select * from disputes where merchant_id = ${merchant_id} and attempt_id = ${attempt_id}
    order by opened_at, dispute_id`)
  return { reversals, disputes }
}

// These reversals are one of our refunds: they are not counted any more.
export async function claimReversals(tx: Tx, reversals: readonly ReversalRecord[], refund_reference: string) {
  for (const { merchant_id, attempt_id, reversal_id } of reversals)
    await tx.rows(named('claim_reversal')`
      update reversals set refund_reference = ${refund_reference}
      where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and reversal_id = ${reversal_id}`)
}

export async function addMoneyBack(tx: Tx, { reversals, disputes }: MoneyBack) {
  for (const r of reversals)
    await tx.rows(named('add_reversal')`
      insert into reversals (merchant_id, attempt_id, reversal_id, tx_reference, amount, currency, reason, reversed_at,
        created_at)
      values (${r.merchant_id}, ${r.attempt_id}, ${r.reversal_id}, ${r.tx_reference}, ${r.amount}, ${r.currency},
        ${r.reason}, ${r.reversed_at}, ${r.created_at})
      on conflict (merchant_id, attempt_id, reversal_id) do nothing`)
  for (const d of disputes)
    await tx.rows(named('save_dispute')`
      insert into disputes (merchant_id, attempt_id, dispute_id, tx_reference, state, amount, currency, reason, due_at,
        opened_at, resolved_at)
      values (${d.merchant_id}, ${d.attempt_id}, ${d.dispute_id}, ${d.tx_reference}, ${d.state}, ${d.amount},
        ${d.currency}, ${d.reason}, ${d.due_at}, ${d.opened_at}, ${d.resolved_at})
      on conflict (merchant_id, attempt_id, dispute_id) do update set state = excluded.state,
        amount = excluded.amount, reason = excluded.reason, due_at = excluded.due_at,
        resolved_at = excluded.resolved_at`)
}
