import type { NotificationKey } from '../core/notification/notification.ts'
import type { Attempt } from '../core/payment/attempt.ts'
import { sql, type Tx } from './db.ts'
import { ofReachableMerchants } from './reachableMerchants.ts'
import type { RefundKey } from './refunds/refunds.ts'

// The searches find up to `limit` rows; while a worker of a sharded database is gone, of each of the others.

type AttemptKey = Pick<Attempt, 'merchant_id' | 'attempt_id'>

// Attempts whose next poll is after `limits`. Failed attempts are polled for longer.
export const attemptsPostponed = (tx: Tx, limits: { unresolved: Date; ended: Date }, limit: number) =>
  ofReachableMerchants(tx, among =>
    tx.rows<AttemptKey>(sql`
    select merchant_id, attempt_id from attempts
    where next_poll_at > ${limits.unresolved} and (state <> 'failed' or next_poll_at > ${limits.ended})
      ${among.merchants('merchant_id')}
    order by next_poll_at desc limit ${limit}`),
  )

export const rescheduleAttempt = (tx: Tx, { merchant_id, attempt_id }: AttemptKey, now: Date) =>
  tx.rows(sql`
    update attempts set next_poll_at = ${now}
    where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and next_poll_at > ${now}`)

// The same for refunds.
export const refundsPostponed = (tx: Tx, limits: { open: Date; failed: Date }, limit: number) =>
  ofReachableMerchants(tx, among =>
    tx.rows<RefundKey>(sql`
    select merchant_id, refund_reference from refunds
    where next_poll_at > ${limits.open} and (state <> 'failed' or next_poll_at > ${limits.failed})
      ${among.merchants('merchant_id')}
    order by next_poll_at desc limit ${limit}`),
  )

export const rescheduleRefund = (tx: Tx, { merchant_id, refund_reference }: RefundKey, now: Date) =>
  tx.rows(sql`
    update refunds set next_poll_at = ${now}
    where merchant_id = ${merchant_id} and refund_reference = ${refund_reference} and next_poll_at > ${now}`)

// Deliveries without a try whose first try is due after `latest`.
export const deliveriesPostponed = (tx: Tx, latest: Date, limit: number) =>
  ofReachableMerchants(tx, among =>
    tx.rows<NotificationKey>(sql`
    select merchant_id, tx_reference, sequence from deliveries
    where not retry and not parked and next_try_at > ${latest} ${among.merchants('merchant_id')}
    order by next_try_at desc limit ${limit}`),
  )

// The schedule begins now. A try that may be in flight has its lease for the usual time at most.
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
