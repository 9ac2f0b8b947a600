import type { Attempt } from '../../core/payment/attempt.ts'
import { sql, type Tx } from '../db.ts'

// The customer came back from the provider's page. True for one of all who do so within the gap, on whichever node. What
// lies in the future was written by a clock that has been set back since.
export const noteReturn = async (
  tx: Tx,
  { merchant_id, attempt_id }: Attempt,
  now: Date,
  gapMs: number,
): Promise<boolean> =>
  (await tx.one(sql`
    update attempts set returned_at = ${now}
    where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and state not in ('paid', 'failed')
      and (returned_at is null or returned_at <= ${new Date(now.getTime() - gapMs)} or returned_at > ${now})
    returning 1`)) !== undefined

// It is asked about by then at the latest.
export const hastenPoll = (tx: Tx, { merchant_id, attempt_id }: Attempt, by: Date) =>
  tx.rows(sql`
    update attempts set next_poll_at = ${by}
    where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and next_poll_at > ${by}`)
