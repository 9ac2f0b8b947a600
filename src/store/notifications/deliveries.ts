import type { Sql } from 'sql-template-tag'
import { Locked } from '../../core/interface/refusal.ts'
import type { IpnStyle } from '../../core/merchant/settings.ts'
import type { Mode } from '../../core/mode.ts'
import type { Candidate } from '../../core/notification/admit.ts'
import type { Delivery } from '../../core/notification/delivery.ts'
import type { Notification, NotificationKey } from '../../core/notification/notification.ts'
import type { Status } from '../../core/payment/payment.ts'
import { type Db, named, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { shortLockTimeout, takeOptimistically } from '../skipLocked.ts'
import { keysOf } from './notificationKeys.ts'
import { amongUnlocked } from './unlockedDeliveries.ts'

type Due = readonly [string, string, number, Mode, string, string, Date, Date | null, boolean, string]

// What is due and not on its way, oldest first. A look only: nothing is taken yet. In a long queue it goes on `after`
// one that was seen before: at the front the index is full of what has ended since it was last tidied.
export async function lookForDue(
  tx: Tx,
  retry: boolean,
  now: Date,
  limit: number,
  after?: string | Date,
): Promise<Candidate[]> {
  const due = await tx.tuples<Due>(named(after ? 'look_for_due_after' : 'look_for_due')`
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

// A delivery that was taken, with all that its try needs and no more: many are read in a second.
export type Taken = NotificationKey &
  Pick<Delivery, 'mode' | 'url' | 'style' | 'begun_at' | 'tries'> &
  Pick<Notification, 'status'> & {
    body: string
    lease_token: string
    lease_until: Date
  }
export type Lease = { token: string; until: Date; now: Date }

// The last one is its place among the chosen.
type TakenFacts = readonly [Mode, string, IpnStyle, Date, number, string, Status, number?]
const takenFacts = sql`d.mode, d.url, d.style, d.begun_at, d.tries, n.body, n.status`

function takenOf(
  { merchant_id, tx_reference, sequence }: NotificationKey,
  facts: TakenFacts,
  lease: Lease,
): Taken {
  const [mode, url, style, begun_at, tries, body, status] = facts
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

// Takes those of the chosen that nobody else has taken meanwhile, in one commit before the first byte is sent. Leaves
// those that are not alone: of two deliveries of a payment, two workers could take one each.
export const takeAlone = (tx: Tx, keys: readonly NotificationKey[], lease: Lease) =>
  takeBy(tx, 'take_alone', sql``, keys, lease)

// The same past those that somebody holds.
export const takeUnlockedAlone = (db: Db, keys: readonly NotificationKey[], lease: Lease) =>
  takeOptimistically(db, {
    optimistic: tx => takeBy(tx, 'take_alone_hoping', shortLockTimeout, keys, lease),
    ...amongUnlocked(
      keys,
      key => key,
      (tx, some) => takeAlone(tx, some, lease),
    ),
  })

async function takeBy(tx: Tx, name: string, patience: Sql, keys: readonly NotificationKey[], lease: Lease) {
  const { merchants, references, sequences } = keysOf(keys)
  const { token, until, now } = lease
  const taken = await tx.tuples<TakenFacts>(named(name)`
    update deliveries d set lease_token = ${token}, lease_until = ${until}, tries = d.tries + 1
    from ${patience} unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[])
        with ordinality as chosen (merchant_id, tx_reference, sequence, place),
      notifications n
    where d.merchant_id = chosen.merchant_id and d.tx_reference = chosen.tx_reference
      and d.sequence = chosen.sequence
      and n.merchant_id = chosen.merchant_id and n.tx_reference = chosen.tx_reference
      and n.sequence = chosen.sequence
      and d.next_try_at <= ${now} and (d.lease_until is null or d.lease_until <= ${now})
      and d.alone and ${ofMerchants('d', keys)} and ${ofMerchants('n', keys)}
    returning ${takenFacts}, chosen.place::integer`)
  return taken.map(facts => takenOf(keys[(facts[7] as number) - 1] as NotificationKey, facts, lease))
}

// Of those that were not taken, those that are still due and have siblings. One that is alone is held by somebody.
export function stillDue(tx: Tx, keys: readonly NotificationKey[], now: Date) {
  const { merchants, references, sequences } = keysOf(keys)
  return tx.rows<NotificationKey>(named('still_due')`
    select d.merchant_id, d.tx_reference, d.sequence
    from unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[])
        as left_over (merchant_id, tx_reference, sequence)
      join deliveries d on d.merchant_id = left_over.merchant_id and d.tx_reference = left_over.tx_reference
        and d.sequence = left_over.sequence
    where d.next_try_at <= ${now} and (d.lease_until is null or d.lease_until <= ${now}) and not d.alone
      and ${ofMerchants('d', keys)}`)
}

const others = (
  merchant_id: string,
) => sql`select from deliveries o where o.merchant_id = ${merchant_id} and o.tx_reference = d.tx_reference
  and o.sequence <> d.sequence and o.next_try_at is not null`

type SiblingKey = Pick<Delivery, 'merchant_id' | 'tx_reference' | 'lane'>
export type SiblingChoice = {
  laneOf(delivery: Delivery): string // as it is now
  isUntried: boolean // take none that has failed before
}
const asStored: SiblingChoice = { laneOf: ({ lane }) => lane, isUntried: false }

// The same for one of several deliveries of a payment: all of them are locked, none may be on its way, and the lowest
// sequence of the lane that waits for its turn is the one that is taken. A sibling that was added while we took the
// locks is not among them: the update, which begins when we have them, looks once more. Not now when somebody else
// holds one of them.
export async function takeAmongSiblings(
  db: Db,
  key: SiblingKey,
  lease: Lease,
  choice = asStored,
): Promise<Taken | undefined> {
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
): Promise<Taken | undefined> {
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
  const [taken] = await tx.tuples<TakenFacts>(sql`
    update deliveries d set lease_token = ${token}, lease_until = ${until}, tries = d.tries + 1,
      alone = not exists (${others(key.merchant_id)})
    from notifications n
    where d.merchant_id = ${key.merchant_id} and d.tx_reference = ${key.tx_reference}
      and d.sequence = ${first.sequence} and not exists (${others(key.merchant_id)} and o.lease_until > ${now})
      and n.merchant_id = d.merchant_id and n.tx_reference = d.tx_reference and n.sequence = d.sequence
    returning ${takenFacts}`)
  return taken && takenOf(first, taken, lease)
}

// For the operator. Held ones are due too: they wait for their lane.
export type DeliveryStats = { due: number; parked: number; oldest_due_at: Date | null }

export const deliveryStats = async (tx: Tx, now: Date) =>
  (await tx.one<DeliveryStats>(sql`
    select count(*) filter (where not parked)::integer as due, count(*) filter (where parked)::integer as parked,
      min(begun_at) as oldest_due_at
    from deliveries where next_try_at is not null and (next_try_at <= ${now} or parked)`)) as DeliveryStats
