import type { Sql } from 'sql-template-tag'
import { Locked } from '../../core/interface/refusal.ts'
import type { IpnStyle } from '../../core/merchant/settings.ts'
import type { Mode } from '../../core/mode.ts'
import type { Candidate } from '../../core/notification/admit.ts'
import type { Delivery, Try } from '../../core/notification/delivery.ts'
import type { Notification, NotificationKey } from '../../core/notification/notification.ts'
import type { Status } from '../../core/payment/payment.ts'
import { type Db, named, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { type PaymentKey, unnestPaymentKeys } from '../payments/paymentKeys.ts'
import { ofReachableMerchants } from '../reachableMerchants.ts'
import { shortLockTimeout, takeOptimistically, type TakeStatements } from '../skipLocked.ts'

// The rows of `deliveries`: which of them are due, the lease of a try, and the state after its result. Other files insert
// them (notifications.ts), park them (parkedDeliveries.ts) and begin them again (redeliveries.ts).

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
  const due = await ofReachableMerchants(tx, among =>
    tx.tuples<Due>(named(`${after ? 'find_due_after' : 'find_due'}${among.suffix}`)`
    select merchant_id, tx_reference, sequence, mode, url, lane, begun_at, last_try_at,
      begun_at > created_at and coalesce(last_try_at < begun_at, true), next_try_at::text
    from deliveries
    where retry = ${retry} and next_try_at <= ${now} and (lease_until is null or lease_until <= ${now})
      ${after ? sql`and next_try_at > ${after}::timestamptz` : sql``} ${among.merchants('merchant_id')}
    order by deliveries.next_try_at limit ${limit}`),
  )
  return due
    .slice(0, limit)
    .map(
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

// The result of a try and the state of its delivery after it: acknowledged, to be tried again, or exhausted.
export type DeliveryOutcome = Try & {
  lease_token: string
  next_try_at: Date | null
  acknowledged_at: Date | null
  exhausted_at: Date | null
}

// Returns how many were accepted. Only the lease of the try is accepted, so that a worker that was paused for too long
// changes nothing.
export function saveOutcomes(tx: Tx, outcomes: readonly DeliveryOutcome[]): Promise<number> {
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

// The same for acknowledged first tries, the usual case, with fewer parameters.
export const saveAcknowledged = (tx: Tx, outcomes: readonly DeliveryOutcome[]) =>
  acknowledgeBy(tx, 'save_acknowledged', sql``, outcomes)

// The same with a short lock timeout.
export const saveAcknowledgedOptimistically = (tx: Tx, outcomes: readonly DeliveryOutcome[]) =>
  acknowledgeBy(tx, 'save_acknowledged_optimistically', shortLockTimeout, outcomes)

function acknowledgeBy(
  tx: Tx,
  name: string,
  lockTimeout: Sql,
  outcomes: readonly DeliveryOutcome[],
): Promise<number> {
  const { merchants, references, sequences } = keysOf(outcomes)
  return tx.count(named(name)`
    update deliveries d set lease_token = null, lease_until = null, parked = false, next_try_at = null,
      retry = false, acknowledged_at = o.acknowledged_at, last_try = 1, last_try_at = o.started_at,
      last_ms = o.ms, last_address = o.address, last_status = 200, last_result = 'acknowledged', last_words = '',
      last_answer = o.answer
    from ${lockTimeout} unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[],
        ${outcomes.map(o => o.lease_token)}::text[],
        ${outcomes.map(o => o.acknowledged_at)}::timestamptz[],
        ${outcomes.map(o => o.started_at)}::timestamptz[], ${outcomes.map(o => o.ms)}::integer[],
        ${outcomes.map(o => o.address)}::text[], ${outcomes.map(o => o.answer)}::bytea[])
      as o (merchant_id, tx_reference, sequence, lease_token, acknowledged_at, started_at, ms, address, answer)
    where d.merchant_id = o.merchant_id and d.tx_reference = o.tx_reference and d.sequence = o.sequence
      and d.lease_token = o.lease_token and ${ofMerchants('d', outcomes)}`)
}

// Those whose delivery is exhausted, according to its row.
export function exhaustedOf(tx: Tx, outcomes: readonly DeliveryOutcome[]) {
  const { merchants, references, sequences } = keysOf(outcomes)
  return tx.rows<NotificationKey>(sql`
    select d.merchant_id, d.tx_reference, d.sequence
    from unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[],
        ${outcomes.map(o => o.try)}::integer[]) as o (merchant_id, tx_reference, sequence, try)
      join deliveries d on d.merchant_id = o.merchant_id and d.tx_reference = o.tx_reference
        and d.sequence = o.sequence and d.last_try = o.try
    where d.exhausted_at is not null and ${ofMerchants('d', outcomes)}`)
}

// A lease whose token contains the number of a node ends with that node. Any other lease ends by its time alone.
export const nodeLeaseToken = (number: number, token: string) => `n${number}-${token}`
export const nodeOfToken = (token: string): number | undefined => {
  const [, digits] = /^n(\d{1,10})-/.exec(token) ?? []
  return digits === undefined ? undefined : Number(digits)
}

// The numbers of the nodes that have leases, read from the tokens.
export async function nodesWithLeases(tx: Tx, now: Date): Promise<number[]> {
  const leased = await ofReachableMerchants(tx, among =>
    tx.rows<{ token: string }>(sql`
      select distinct split_part(lease_token, '-', 1) || '-' as token from deliveries
      where next_try_at is not null and lease_until > ${now} and lease_token like 'n%-%'
        ${among.merchants('merchant_id')}`),
  )
  return [...new Set(leased.flatMap(({ token }) => nodeOfToken(token) ?? []))]
}

// Ends the leases of a dead node, and returns how many. The tokens stay: if the node is alive after all, its results are
// accepted until another node has taken the delivery.
export async function endLeasesOf(tx: Tx, node: number, now: Date): Promise<number> {
  const counts = await ofReachableMerchants(tx, async among => [
    await tx.count(sql`
      update deliveries set lease_until = ${now}
      where next_try_at is not null and lease_until > ${now} and lease_token like ${`n${node}-%`}
        ${among.merchants('merchant_id')}`),
  ])
  return counts.reduce((sum, count) => sum + count, 0)
}

// Undoes a lease under which nothing was sent: the deliveries are due again. Returns how many.
export const undoLeases = (tx: Tx, keys: readonly PaymentKey[], token: string): Promise<number> =>
  tx.count(sql`
    update deliveries d set lease_token = null, lease_until = null, tries = d.tries - 1
    from ${unnestPaymentKeys(keys)}
    where d.merchant_id = k.merchant_id and d.tx_reference = k.tx_reference and d.lease_token = ${token}
      and d.next_try_at is not null and ${ofMerchants('d', keys)}`)

// For the operator. The oldest may be a parked one.
type DeliveryStats = { due: number; parked: number; oldest_due_at: Date | null }

export const deliveryStats = async (tx: Tx, now: Date) =>
  (await tx.one<DeliveryStats>(sql`
    select count(*) filter (where not parked)::integer as due, count(*) filter (where parked)::integer as parked,
      min(begun_at) as oldest_due_at
    from deliveries where next_try_at is not null and (next_try_at <= ${now} or parked)`)) as DeliveryStats

// Keys column by column, for statements about many deliveries.
export const keysOf = (keys: readonly NotificationKey[]) => ({
  merchants: keys.map(key => key.merchant_id),
  references: keys.map(key => key.tx_reference),
  sequences: keys.map(key => key.sequence),
})

// A FROM item with one row for each key.
export function unnestDeliveryKeys(keys: readonly NotificationKey[], isNumbered = false) {
  const { merchants, references, sequences } = keysOf(keys)
  const unnested = sql`unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[])`
  return isNumbered
    ? sql`${unnested} with ordinality as k (merchant_id, tx_reference, sequence, place)`
    : sql`${unnested} as k (merchant_id, tx_reference, sequence)`
}

// Work on those deliveries that no other transaction has locked.
export const amongUnlocked = <Item, Done>(
  items: readonly Item[],
  keyOf: (item: Item) => NotificationKey,
  work: (tx: Tx, items: readonly Item[]) => Promise<readonly Done[]>,
): TakeStatements<Item, Done> => ({
  skipping: (db: Db) =>
    db.transaction(async tx => {
      const locked = (await lockUnlocked(tx, items.map(keyOf))).map(at => items[at] as Item)
      return locked.length > 0 ? work(tx, locked) : []
    }),
  find: async () => items,
  waiting: work,
})

// Locks those that are not locked, and returns their places.
async function lockUnlocked(tx: Tx, keys: readonly NotificationKey[]): Promise<number[]> {
  const places = await tx.tuples<[number]>(named('lock_unlocked_deliveries')`
    select k.place::integer
    from ${unnestDeliveryKeys(keys, true)}
      join deliveries d on d.merchant_id = k.merchant_id and d.tx_reference = k.tx_reference
        and d.sequence = k.sequence
    for update of d skip locked`)
  return places.map(([place]) => place - 1)
}
