import type { Sql } from 'sql-template-tag'
import { Locked } from '../../core/interface/refusal.ts'
import type { IpnStyle } from '../../core/merchant/settings.ts'
import type { Mode } from '../../core/mode.ts'
import { nodeOfToken } from '../../core/nodes.ts'
import type { Candidate } from '../../core/notification/admit.ts'
import type { Delivery } from '../../core/notification/delivery.ts'
import type { Notification, NotificationKey } from '../../core/notification/notification.ts'
import type { Status } from '../../core/payment/payment.ts'
import { type Db, named, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { type PaymentKey, unnestPaymentKeys } from '../payments/paymentKeys.ts'
import { shortLockTimeout, takeOptimistically } from '../skipLocked.ts'
import { amongUnlocked, unnestDeliveryKeys } from './deliveryKeys.ts'

type Due = readonly [string, string, number, Mode, string, string, Date, Date | null, boolean, string]

// Deliveries that are due and not leased, oldest first. Nothing is locked. In a long backlog a poll continues `after` the
// last row of the poll before, because the front of the index is full of dead entries until the next vacuum.
export async function findDueDeliveries(
  tx: Tx,
  retry: boolean,
  now: Date,
  limit: number,
  after?: string | Date,
): Promise<Candidate[]> {
  const due = await tx.tuples<Due>(named(after ? 'find_due_after' : 'find_due')`
    select merchant_id, tx_reference, sequence, mode, url, lane, begun_at, last_try_at,
      begun_at > created_at and coalesce(last_try_at < begun_at, true), next_try_at::text
    from deliveries
    where retry = ${retry} and next_try_at <= ${now} and (lease_until is null or lease_until <= ${now})
      ${after ? sql`and next_try_at > ${after}::timestamptz` : sql``}
    order by deliveries.next_try_at limit ${limit}`)
  return due.map(
    ([merchant_id, tx_reference, sequence, mode, url, lane, begun_at, last_try_at, by_hand, due_at]) => ({
      merchant_id,
      tx_reference,
      sequence,
      mode,
      url,
      lane,
      retry,
      begun_at,
      last_try_at,
      by_hand,
      due_at,
      lane_key: undefined,
      payment_key: undefined,
      quota: undefined,
      past_breaker: undefined,
    }),
  )
}

// A delivery with a lease of this process, and only the columns that a try needs, because many are read per second.
export type LeasedDelivery = NotificationKey &
  Pick<Delivery, 'mode' | 'url' | 'style' | 'begun_at' | 'tries'> &
  Pick<Notification, 'status'> & {
    body: string
    lease_token: string
    lease_until: Date
  }
export type Lease = { token: string; until: Date; now: Date }

// The last column, if there is one, is the place among the keys.
type LeasedColumns = readonly [Mode, string, IpnStyle, Date, number, string, Status, number?]
const leasedColumns = sql`d.mode, d.url, d.style, d.begun_at, d.tries, n.body, n.status`

function leasedOf(
  { merchant_id, tx_reference, sequence }: NotificationKey,
  columns: LeasedColumns,
  lease: Lease,
): LeasedDelivery {
  const [mode, url, style, begun_at, tries, body, status] = columns
  const { token: lease_token, until: lease_until } = lease
  return {
    merchant_id,
    tx_reference,
    sequence,
    mode,
    url,
    style,
    begun_at,
    tries,
    body,
    status,
    lease_token,
    lease_until,
  }
}

// Leases those of these deliveries that are still free, in one commit before the first byte is sent. Skips those that are
// not alone: of two deliveries of one payment, two workers could take one each.
export const takeAlone = (tx: Tx, keys: readonly NotificationKey[], lease: Lease) =>
  takeBy(tx, 'take_alone', sql``, keys, lease)

// The same, without waiting for locked rows.
export const takeUnlockedAlone = (db: Db, keys: readonly NotificationKey[], lease: Lease) =>
  takeOptimistically(db, {
    optimistic: tx => takeBy(tx, 'take_alone_optimistically', shortLockTimeout, keys, lease),
    ...amongUnlocked(
      keys,
      key => key,
      (tx, some) => takeAlone(tx, some, lease),
    ),
  })

async function takeBy(
  tx: Tx,
  name: string,
  lockTimeout: Sql,
  keys: readonly NotificationKey[],
  lease: Lease,
) {
  const { token, until, now } = lease
  const taken = await tx.tuples<LeasedColumns>(named(name)`
    update deliveries d set lease_token = ${token}, lease_until = ${until}, tries = d.tries + 1
    from ${lockTimeout} ${unnestDeliveryKeys(keys, true)}, notifications n
    where d.merchant_id = k.merchant_id and d.tx_reference = k.tx_reference and d.sequence = k.sequence
      and n.merchant_id = k.merchant_id and n.tx_reference = k.tx_reference and n.sequence = k.sequence
      and d.next_try_at <= ${now} and (d.lease_until is null or d.lease_until <= ${now})
      and d.alone and ${ofMerchants('d', keys)} and ${ofMerchants('n', keys)}
    returning ${leasedColumns}, k.place::integer`)
  return taken.map(columns => leasedOf(keys[(columns[7] as number) - 1] as NotificationKey, columns, lease))
}

// Of those that were not taken, those that are still due and have siblings. One that is alone is locked.
export const stillDue = (tx: Tx, keys: readonly NotificationKey[], now: Date) =>
  tx.rows<NotificationKey>(named('still_due')`
    select d.merchant_id, d.tx_reference, d.sequence
    from ${unnestDeliveryKeys(keys)}
      join deliveries d on d.merchant_id = k.merchant_id and d.tx_reference = k.tx_reference
        and d.sequence = k.sequence
    where d.next_try_at <= ${now} and (d.lease_until is null or d.lease_until <= ${now}) and not d.alone
      and ${ofMerchants('d', keys)}`)

const openSiblings = (
  merchant_id: string,
) => sql`select from deliveries o where o.merchant_id = ${merchant_id} and o.tx_reference = d.tx_reference
  and o.sequence <> d.sequence and o.next_try_at is not null`

type SiblingKey = Pick<Delivery, 'merchant_id' | 'tx_reference' | 'lane'>
type SiblingChoice = {
  laneOf(delivery: Delivery): string // the lane that it belongs to now
  isUntried: boolean // take none that has failed before
}
const asStored: SiblingChoice = { laneOf: ({ lane }) => lane, isUntried: false }

// Leases one of several open deliveries of a payment. All of them are locked, none may be in flight, and the lowest
// sequence that is due or parked is taken. A sibling that was added while the locks were taken is not locked: the update,
// which starts after that, checks again. Returns undefined if another transaction has locked one of them.
export async function takeAmongSiblings(
  db: Db,
  key: SiblingKey,
  lease: Lease,
  choice = asStored,
): Promise<LeasedDelivery | undefined> {
  try {
    return await db.transaction(tx => takeFirstSibling(tx, key, lease, choice))
  } catch (error) {
    if (error instanceof Locked) return undefined
    throw error
  }
}

async function takeFirstSibling(
  tx: Tx,
  key: SiblingKey,
  lease: Lease,
  { laneOf, isUntried }: SiblingChoice,
): Promise<LeasedDelivery | undefined> {
  const { token, until, now } = lease
  const siblings = await tx.rows<Delivery>(sql`
    select * from deliveries
    where merchant_id = ${key.merchant_id} and tx_reference = ${key.tx_reference} and next_try_at is not null
    order by sequence for update nowait`)
  const isTaken = siblings.some(({ lease_until }) => lease_until && lease_until > now)
  const isOfLane = (delivery: Delivery) => laneOf(delivery) === key.lane
  const first = siblings
    .filter(({ retry }) => !(isUntried && retry))
    .find(
      delivery =>
        (delivery.next_try_at && delivery.next_try_at <= now) ||
        (delivery.parked && !delivery.retry && isOfLane(delivery)),
    )
  if (isTaken || !first || !isOfLane(first)) return undefined
  const [taken] = await tx.tuples<LeasedColumns>(sql`
    update deliveries d set lease_token = ${token}, lease_until = ${until}, tries = d.tries + 1,
      alone = not exists (${openSiblings(key.merchant_id)})
    from notifications n
    where d.merchant_id = ${key.merchant_id} and d.tx_reference = ${key.tx_reference}
      and d.sequence = ${first.sequence} and not exists (${openSiblings(key.merchant_id)} and o.lease_until > ${now})
      and n.merchant_id = d.merchant_id and n.tx_reference = d.tx_reference and n.sequence = d.sequence
    returning ${leasedColumns}`)
  return taken && leasedOf(first, taken, lease)
}

// For the operator. The oldest may be a parked one.
type DeliveryStats = { due: number; parked: number; oldest_due_at: Date | null }

export const deliveryStats = async (tx: Tx, now: Date) =>
  (await tx.one<DeliveryStats>(sql`
    select count(*) filter (where not parked)::integer as due, count(*) filter (where parked)::integer as parked,
      min(begun_at) as oldest_due_at
    from deliveries where next_try_at is not null and (next_try_at <= ${now} or parked)`)) as DeliveryStats

// The numbers of the nodes that have leases, read from the tokens.
export async function nodesWithLeases(tx: Tx, now: Date): Promise<number[]> {
  const leased = await tx.rows<{ token: string }>(sql`
    select distinct split_part(lease_token, '-', 1) || '-' as token from deliveries
    where next_try_at is not null and lease_until > ${now} and lease_token like 'n%-%'`)
  return leased.flatMap(({ token }) => nodeOfToken(token) ?? [])
}

// Ends the leases of a dead node, and returns how many. The tokens stay: if the node is alive after all, its results are
// accepted until another node has taken the delivery.
export const endLeasesOf = (tx: Tx, node: number, now: Date) =>
  tx.count(sql`
    update deliveries set lease_until = ${now}
    where next_try_at is not null and lease_until > ${now} and lease_token like ${`n${node}-%`}`)

// Undoes a lease under which nothing was sent: the deliveries are due again. Returns how many.
export const undoLeases = (tx: Tx, keys: readonly PaymentKey[], token: string): Promise<number> =>
  tx.count(sql`
    update deliveries d set lease_token = null, lease_until = null, tries = d.tries - 1
    from ${unnestPaymentKeys(keys)}
    where d.merchant_id = k.merchant_id and d.tx_reference = k.tx_reference and d.lease_token = ${token}
      and d.next_try_at is not null and ${ofMerchants('d', keys)}`)
