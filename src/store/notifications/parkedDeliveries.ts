import type { NotificationKey } from '../../core/notification/notification.ts'
import { type Db, named, type Query, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { takeUnlocked } from '../skipLocked.ts'
import { keysOf } from './notificationKeys.ts'
import { amongUnlocked } from './unlockedDeliveries.ts'

// Deliveries that wait in their lane, out of sight of the look for what is due: those of a lane whose breaker is open,
// and the crowd behind a lane that is full. Each comes into sight again when its lane has room, or when it has to be
// tried anyway.
export type ParkedCount = NotificationKey & { lane: string; until: Date }

// One that somebody has in its hands stays where it is, and is seen again.
export async function parkDeliveries(db: Db, parked: readonly ParkedCount[], now: Date): Promise<number> {
  const counts = await takeUnlocked(
    db,
    amongUnlocked(
      parked,
      one => one,
      async (tx, some) => [await park(tx, some, now)],
    ),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

function park(tx: Tx, parked: readonly ParkedCount[], now: Date): Promise<number> {
  const { merchants, references, sequences } = keysOf(parked)
  return tx.count(named('hold_deliveries')`
    update deliveries d set parked = true, lane = h.lane, next_try_at = h.until
    from unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[],
        ${parked.map(h => h.lane)}::text[], ${parked.map(h => h.until)}::timestamptz[])
      as h (merchant_id, tx_reference, sequence, lane, until)
    where d.merchant_id = h.merchant_id and d.tx_reference = h.tx_reference and d.sequence = h.sequence
      and d.next_try_at <= ${now} and (d.lease_until is null or d.lease_until <= ${now})
      and ${ofMerchants('d', parked)}`)
}

const release = (merchant_id: string, which: Query, now: Date, limit: number) => sql`
  update deliveries set parked = false, next_try_at = ${now}
  where (merchant_id, tx_reference, sequence) in (
      select merchant_id, tx_reference, sequence from deliveries
      where merchant_id = ${merchant_id} and parked and ${which} order by begun_at limit ${limit}
      for update skip locked)
    and merchant_id = ${merchant_id} and parked
  returning merchant_id, tx_reference, sequence`

// Brings the oldest of a lane into sight; gives back how many. One merchant's: every database skips among them.
export const releaseDeliveries = async (
  tx: Tx,
  merchant_id: string,
  lane: string,
  now: Date,
  limit: number,
) => (await tx.rows(release(merchant_id, sql`lane = ${lane}`, now, limit))).length

// Brings the one into sight that is sent as the probe of a lane: the oldest that was never tried, or the oldest.
export async function releaseProbe(
  tx: Tx,
  merchant_id: string,
  lane: string,
  now: Date,
): Promise<NotificationKey | undefined> {
  const which = (more: Query) => release(merchant_id, sql`lane = ${lane} and ${more}`, now, 1)
  return (
    (await tx.one<NotificationKey>(which(sql`not retry`))) ??
    (await tx.one<NotificationKey>(which(sql`true`)))
  )
}

// Moves those of a lane to another whose address is this one, whatever its query; gives back how many.
export const moveParked = (
  tx: Tx,
  { merchant_id, from, to, url }: { merchant_id: string; from: string; to: string; url: string },
  limit: number,
) =>
  tx.count(sql`
    update deliveries set lane = ${to}
    where (merchant_id, tx_reference, sequence) in (
        select merchant_id, tx_reference, sequence from deliveries
        where merchant_id = ${merchant_id} and parked and lane = ${from}
          and split_part(url, '?', 1) = split_part(${url}::text, '?', 1)
        limit ${limit} for update skip locked)
      and merchant_id = ${merchant_id} and parked`)

const lanesOfMerchant = 100
const lanesAtMost = 10_000

// Some of each merchant, those first in which no customer can put others, so that no crowd of lanes hides another.
export const lanesWithParked = (tx: Tx) =>
  tx.rows<{ merchant_id: string; lane: string }>(sql`
    select merchant_id, lane from (
      select merchant_id, lane, row_number() over (partition by merchant_id
        order by lane like '%/shared-%', random()) as place
      from deliveries where parked group by merchant_id, lane) as lanes
    where place <= ${lanesOfMerchant} order by place limit ${lanesAtMost}`)
