import type { Sql } from 'sql-template-tag'
import type { NotificationKey } from '../../core/notification/notification.ts'
import { named, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { shortLockTimeout } from '../skipLocked.ts'
import { keysOf } from './notificationKeys.ts'
import type { Try } from './tries.ts'

// What came of a try, and what comes of its delivery: acknowledged, to be tried again, or exhausted.
export type Outcome = Try & {
  lease_token: string
  next_try_at: Date | null
  acknowledged_at: Date | null
  exhausted_at: Date | null
}

// Gives back how many were accepted: only with the lease of the try, so that a worker that was away for too long changes
// nothing.
export function saveOutcomes(tx: Tx, outcomes: readonly Outcome[]): Promise<number> {
  const { merchants, references, sequences } = keysOf(outcomes)
  return tx.count(named('save_outcomes')`
    update deliveries d set lease_token = null, lease_until = null, parked = false, next_try_at = o.next_try_at,
      retry = o.next_try_at is not null, acknowledged_at = o.acknowledged_at, exhausted_at = o.exhausted_at,
      last_try = o.try, last_try_at = o.started_at, last_ms = o.ms, last_address = o.address,
      last_status = o.status, last_result = o.result, last_words = o.words, last_answer = o.answer
    from unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[],
        ${outcomes.map(o => o.lease_token)}::text[], ${outcomes.map(o => o.next_try_at)}::timestamptz[],
        ${outcomes.map(o => o.acknowledged_at)}::timestamptz[],
        ${outcomes.map(o => o.exhausted_at)}::timestamptz[], ${outcomes.map(o => o.try)}::integer[],
        ${outcomes.map(o => o.started_at)}::timestamptz[], ${outcomes.map(o => o.ms)}::integer[],
        ${outcomes.map(o => o.address)}::text[], ${outcomes.map(o => o.status)}::integer[],
        ${outcomes.map(o => o.result)}::text[], ${outcomes.map(o => o.words)}::text[],
        ${outcomes.map(o => o.answer)}::bytea[])
      as o (merchant_id, tx_reference, sequence, lease_token, next_try_at, acknowledged_at, exhausted_at, try,
        started_at, ms, address, status, result, words, answer)
    where d.merchant_id = o.merchant_id and d.tx_reference = o.tx_reference and d.sequence = o.sequence
      and d.lease_token = o.lease_token and ${ofMerchants('d', outcomes)}`)
}

// The same for first tries that were acknowledged, which is most of them: less has to be said of each.
export const saveAcknowledged = (tx: Tx, outcomes: readonly Outcome[]) =>
  acknowledgeBy(tx, 'save_acknowledged', sql``, outcomes)

// Without much patience for those that somebody else holds.
export const saveAcknowledgedOptimistically = (tx: Tx, outcomes: readonly Outcome[]) =>
  acknowledgeBy(tx, 'save_acknowledged_hoping', shortLockTimeout, outcomes)

function acknowledgeBy(tx: Tx, name: string, patience: Sql, outcomes: readonly Outcome[]): Promise<number> {
  const { merchants, references, sequences } = keysOf(outcomes)
  return tx.count(named(name)`
    update deliveries d set lease_token = null, lease_until = null, parked = false, next_try_at = null,
      retry = false, acknowledged_at = o.acknowledged_at, last_try = 1, last_try_at = o.started_at,
      last_ms = o.ms, last_address = o.address, last_status = 200, last_result = 'acknowledged', last_words = '',
      last_answer = o.answer
    from ${patience} unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[],
        ${outcomes.map(o => o.lease_token)}::text[],
        ${outcomes.map(o => o.acknowledged_at)}::timestamptz[],
        ${outcomes.map(o => o.started_at)}::timestamptz[], ${outcomes.map(o => o.ms)}::integer[],
        ${outcomes.map(o => o.address)}::text[], ${outcomes.map(o => o.answer)}::bytea[])
      as o (merchant_id, tx_reference, sequence, lease_token, acknowledged_at, started_at, ms, address, answer)
    where d.merchant_id = o.merchant_id and d.tx_reference = o.tx_reference and d.sequence = o.sequence
      and d.lease_token = o.lease_token and ${ofMerchants('d', outcomes)}`)
}

// Those whose delivery is given up, by the word of the delivery itself.
export function exhaustedOf(tx: Tx, outcomes: readonly Outcome[]) {
  const { merchants, references, sequences } = keysOf(outcomes)
  return tx.rows<NotificationKey>(sql`
    select d.merchant_id, d.tx_reference, d.sequence
    from unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[],
        ${outcomes.map(o => o.try)}::integer[]) as o (merchant_id, tx_reference, sequence, try)
      join deliveries d on d.merchant_id = o.merchant_id and d.tx_reference = o.tx_reference
        and d.sequence = o.sequence and d.last_try = o.try
    where d.exhausted_at is not null and ${ofMerchants('d', outcomes)}`)
}
