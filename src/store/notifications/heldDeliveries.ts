import type { NotificationKey } from '../../core/notification/notification.ts'
import { type Db, named, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../ofMerchants.ts'
import { takeUnlocked } from '../skipLocked.ts'
import { keysOf } from './notificationKeys.ts'
import { amongUnlocked } from './unlockedDeliveries.ts'

// Deliveries that wait in their lane, out of sight of the look for what is due: those of a lane whose breaker is open,
// and the crowd behind a lane that is full. Each comes into sight again when its lane has room, or when it has to be
// tried anyway.
export type Held = NotificationKey & { until: Date }

// One that somebody has in its hands stays where it is, and is seen again.
export async function holdDeliveries(db: Db, held: readonly Held[], now: Date): Promise<number> {
  const counts = await takeUnlocked(
    db,
    amongUnlocked(
      held,
      one => one,
      async (tx, some) => [await hold(tx, some, now)],
    ),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

function hold(tx: Tx, held: readonly Held[], now: Date): Promise<number> {
  const { merchants, references, sequences } = keysOf(held)
  return tx.count(named('hold_deliveries')`
    update deliveries d set held = true, next_try_at = h.until
    from unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[],
        ${held.map(h => h.until)}::timestamptz[]) as h (merchant_id, tx_reference, sequence, until)
    where d.merchant_id = h.merchant_id and d.tx_reference = h.tx_reference and d.sequence = h.sequence
      and d.next_try_at <= ${now} and (d.lease_until is null or d.lease_until <= ${now})
      and ${ofMerchants('d', held)}`)
}

// Brings the oldest of a lane into sight; gives back how many. One merchant's: every database skips among them.
export const releaseDeliveries = async (
  tx: Tx,
  merchant_id: string,
  lane: string,
  now: Date,
  limit: number,
) =>
  (
    await tx.rows(sql`
      update deliveries set held = false, next_try_at = ${now}
      where (merchant_id, tx_reference, sequence) in (
          select merchant_id, tx_reference, sequence from deliveries
          where merchant_id = ${merchant_id} and lane = ${lane} and held order by begun_at limit ${limit}
          for update skip locked)
        and merchant_id = ${merchant_id} and held
      returning 1`)
  ).length

export const lanesWithHeld = (tx: Tx) =>
  tx.rows<{ merchant_id: string; lane: string }>(sql`
    select merchant_id, lane from deliveries where held group by merchant_id, lane limit 10000`)
