import type { NotificationKey } from '../../core/notification/notification.ts'
import { type Db, named, type Query, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { ofReachableMerchants } from '../reachableMerchants.ts'
import { takeUnlocked } from '../skipLocked.ts'
import { amongUnlocked, keysOf } from './deliveries.ts'

// Parked deliveries are not returned by polls: those of a lane whose breaker is open, and the backlog of a lane that is
// full. Each is due again when its lane has room, or at `until`, when it is tried whatever the state of its lane.
type ParkedDelivery = NotificationKey & { lane: string; until: Date }

// Locked rows are skipped: they stay due.
export async function parkDeliveries(db: Db, parked: readonly ParkedDelivery[], now: Date): Promise<number> {
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

function park(tx: Tx, parked: readonly ParkedDelivery[], now: Date): Promise<number> {
  const { merchants, references, sequences } = keysOf(parked)
  return tx.count(named('park_deliveries')`
    update deliveries d set parked = true, lane = p.lane, next_try_at = p.until
    from unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[],
        ${parked.map(p => p.lane)}::text[], ${parked.map(p => p.until)}::timestamptz[])
      as p (merchant_id, tx_reference, sequence, lane, until)
    where d.merchant_id = p.merchant_id and d.tx_reference = p.tx_reference and d.sequence = p.sequence
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

// Makes the oldest of a lane due, and returns how many. One merchant only: so `skip locked` works on a sharded database
// too.
export const releaseDeliveries = async (
  tx: Tx,
  merchant_id: string,
  lane: string,
  now: Date,
  limit: number,
) => (await tx.rows(release(merchant_id, sql`lane = ${lane}`, now, limit))).length

// Makes the probe of a lane due: the oldest delivery that was never tried, or else the oldest.
export async function releaseProbe(
  tx: Tx,
  merchant_id: string,
  lane: string,
  now: Date,
): Promise<NotificationKey | undefined> {
  const oldest = (which: Query) =>
    tx.one<NotificationKey>(release(merchant_id, sql`lane = ${lane} and ${which}`, now, 1))
  return (await oldest(sql`not retry`)) ?? (await oldest(sql`true`))
}

// Moves the parked deliveries of one address, whatever its query, to another lane. Returns how many.
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

// A limited number of lanes of each merchant, so that no merchant hides another. Lanes that customers cannot fill come
// first.
export const lanesWithParked = (tx: Tx) =>
  ofReachableMerchants(tx, among =>
    tx.rows<{ merchant_id: string; lane: string }>(sql`
    select merchant_id, lane from (
      select merchant_id, lane, row_number() over (partition by merchant_id
        order by lane like '%/shared-%', random()) as place
      from deliveries where parked ${among.merchants('merchant_id')} group by merchant_id, lane) as lanes
    where place <= ${lanesOfMerchant} order by place limit ${lanesAtMost}`),
  )
