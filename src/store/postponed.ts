import type { NotificationKey } from '../core/notification/notification.ts'
import type { Attempt } from '../core/payment/attempt.ts'
import { sql, type Tx } from './db.ts'

type AttemptKey = Pick<Attempt, 'merchant_id' | 'attempt_id'>

// Attempts that would be asked about later than that, those that have ended and the others.
export const attemptsPostponed = (tx: Tx, than: { unresolved: Date; ended: Date }, limit: number) =>
  tx.rows<AttemptKey>(sql`
    select merchant_id, attempt_id from attempts
    where next_poll_at > ${than.unresolved} and (state <> 'failed' or next_poll_at > ${than.ended})
    order by next_poll_at desc limit ${limit}`)

export const rescheduleAttempt = (tx: Tx, { merchant_id, attempt_id }: AttemptKey, now: Date) =>
  tx.rows(sql`
    update attempts set next_poll_at = ${now}
    where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and next_poll_at > ${now}`)

// Deliveries that were never tried, and would be later than that.
export const deliveriesPostponed = (tx: Tx, than: Date, limit: number) =>
  tx.rows<NotificationKey>(sql`
    select merchant_id, tx_reference, sequence from deliveries
    where not retry and not parked and next_try_at > ${than} order by next_try_at desc limit ${limit}`)

// The schedule begins now. A try that may be under way keeps its lease, but no longer than any other.
export const rescheduleDelivery = (
  tx: Tx,
  key: NotificationKey,
  { now, until }: { now: Date; until: Date },
) =>
  tx.rows(sql`
    update deliveries set begun_at = ${now}, next_try_at = ${now},
      lease_until = case when lease_until > ${until} then ${until} else lease_until end
    where merchant_id = ${key.merchant_id} and tx_reference = ${key.tx_reference} and sequence = ${key.sequence}
      and not retry and not parked and next_try_at > ${now}`)
