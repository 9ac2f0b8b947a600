import { sql, type Tx } from '../db.ts'

type Scanned = { last: string | null; found: string[] }

// Of one merchant's next payments behind a reference, those whose own fields contain a pattern and are not redacted. `last`
// is where the next batch begins; null at the end. No index has texts and extra fields, so all payments are read once.
export const scanPayments = (tx: Tx, merchant_id: string, pattern: string, behind: string, limit: number) =>
  tx.one<Scanned>(sql`
    with page as (
      select tx_reference, redacted_at, number, email, name, description, line_items, pymt_instrument, extra, success_url,
        cancelled_url, deferred_url, ipn_url, psp_response_msg
      from payments where merchant_id = ${merchant_id} and tx_reference > ${behind}
      order by tx_reference limit ${limit})
    select max(tx_reference) as last, coalesce(array_agg(tx_reference) filter (where redacted_at is null
      and concat_ws(' ', number, email, name, description, line_items, pymt_instrument, extra, success_url,
        cancelled_url, deferred_url, ipn_url, psp_response_msg) ~* ${pattern}), '{}') as found
    from page`)

const removed = '(removed)'

// Removes a pattern from the notes of people about other payments: of tasks, and of refunds.
export async function scrubNotes(tx: Tx, merchant_id: string, pattern: string) {
  await tx.rows(sql`
    update events set reason = regexp_replace(reason, ${pattern}, ${removed}, 'gi')
    where merchant_id = ${merchant_id} and kind = 'task_closed' and reason ~* ${pattern}
      and tx_reference in (select tx_reference from tasks
        where merchant_id = ${merchant_id} and closed_note ~* ${pattern})`)
  await tx.rows(sql`
    update tasks set note = regexp_replace(note, ${pattern}, ${removed}, 'gi'),
      closed_note = regexp_replace(closed_note, ${pattern}, ${removed}, 'gi'),
      owner_note = regexp_replace(owner_note, ${pattern}, ${removed}, 'gi')
    where merchant_id = ${merchant_id}
      and (note ~* ${pattern} or closed_note ~* ${pattern} or owner_note ~* ${pattern})`)
  await tx.rows(sql`
    update refunds set reason = regexp_replace(reason, ${pattern}, ${removed}, 'gi'),
      state_reason = regexp_replace(state_reason, ${pattern}, ${removed}, 'gi')
    where merchant_id = ${merchant_id} and (reason ~* ${pattern} or state_reason ~* ${pattern})`)
  await tx.rows(sql`
    update refund_approvals set reason = regexp_replace(reason, ${pattern}, ${removed}, 'gi'),
      decision_reason = regexp_replace(decision_reason, ${pattern}, ${removed}, 'gi')
    where merchant_id = ${merchant_id} and (reason ~* ${pattern} or decision_reason ~* ${pattern})`)
}
