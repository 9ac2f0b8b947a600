import type { Candidate } from '../core/choose.ts'
import type { Delivery, Result } from '../core/delivery.ts'
import type { NotificationKey } from '../core/notification.ts'
import { type Db, named, sql, type Tx } from './db.ts'

// What is due and not on its way, oldest first. A look only: nothing is taken yet.
export const lookForDue = (tx: Tx, retry: boolean, now: Date, limit: number) =>
  tx.rows<Candidate>(named('look_for_due')`
    select merchant_id, tx_reference, sequence, lane, retry, begun_at, last_try_at,
      begun_at > created_at and coalesce(last_try_at < begun_at, true) as by_hand
    from deliveries
    where retry = ${retry} and next_try_at <= ${now} and (lease_until is null or lease_until <= ${now})
    order by next_try_at limit ${limit}`)

// A delivery that was taken, with all that its try needs and no more: many are read in a second.
export type Taken = NotificationKey &
  Pick<Delivery, 'mode' | 'url' | 'style' | 'created_at' | 'begun_at' | 'tries'> & {
    body: string
    lease_token: string
    lease_until: Date
  }
const takenColumns = sql`d.merchant_id, d.tx_reference, d.sequence, d.mode, d.url, d.style, d.created_at, d.begun_at,
  d.tries, n.body`
export type Lease = { token: string; until: Date; now: Date }

const keysOf = (keys: readonly NotificationKey[]) => ({
  merchants: keys.map(key => key.merchant_id),
  references: keys.map(key => key.tx_reference),
  sequences: keys.map(key => key.sequence),
})

// Takes those of the chosen that nobody else has taken meanwhile, in one commit before the first byte is sent. Leaves
// those whose payment has another delivery that has not ended: of two, two workers could take one each.
export async function takeAlone(
  tx: Tx,
  keys: readonly NotificationKey[],
  { token, until, now }: Lease,
): Promise<Taken[]> {
  const { merchants, references, sequences } = keysOf(keys)
  const taken = await tx.rows<Omit<Taken, 'lease_token' | 'lease_until'>>(named('take_alone')`
    update deliveries d set lease_token = ${token}, lease_until = ${until}, tries = d.tries + 1
    from unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[])
        as chosen (merchant_id, tx_reference, sequence),
      notifications n
    where d.merchant_id = chosen.merchant_id and d.tx_reference = chosen.tx_reference
      and d.sequence = chosen.sequence
      and n.merchant_id = chosen.merchant_id and n.tx_reference = chosen.tx_reference
      and n.sequence = chosen.sequence
      and d.next_try_at <= ${now} and (d.lease_until is null or d.lease_until <= ${now})
      and not exists (select from deliveries o where o.merchant_id = d.merchant_id
        and o.tx_reference = d.tx_reference and o.sequence <> d.sequence and o.next_try_at is not null)
    returning ${takenColumns}`)
  return taken.map(one => ({ ...one, lease_token: token, lease_until: until }))
}

// Of those that were not taken, those that are still due: they have siblings.
export function stillDue(tx: Tx, keys: readonly NotificationKey[], now: Date) {
  const { merchants, references, sequences } = keysOf(keys)
  return tx.rows<NotificationKey>(named('still_due')`
    select d.merchant_id, d.tx_reference, d.sequence
    from unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[])
        as left_over (merchant_id, tx_reference, sequence)
      join deliveries d on d.merchant_id = left_over.merchant_id and d.tx_reference = left_over.tx_reference
        and d.sequence = left_over.sequence
    where d.next_try_at <= ${now} and (d.lease_until is null or d.lease_until <= ${now})`)
}

type SiblingKey = Pick<Delivery, 'merchant_id' | 'tx_reference' | 'lane'>

// The same for one of several deliveries of a payment: all of them are locked, none may be on its way, and the lowest
// sequence of the lane that waits for its turn is the one that is taken.
export const takeAmongSiblings = (db: Db, key: SiblingKey, { token, until, now }: Lease) =>
  db.transaction(async tx => {
    const siblings = await tx.rows<Delivery>(sql`
      select * from deliveries
      where merchant_id = ${key.merchant_id} and tx_reference = ${key.tx_reference} and next_try_at is not null
      order by sequence for update`)
    const isTaken = siblings.some(({ lease_until }) => lease_until && lease_until > now)
    const first = siblings.find(
      ({ next_try_at, lane, held, retry }) =>
        (next_try_at && next_try_at <= now) || (held && !retry && lane === key.lane),
    )
    if (isTaken || first?.lane !== key.lane) return undefined
    const taken = await tx.one<Omit<Taken, 'lease_token' | 'lease_until'>>(sql`
      update deliveries d set lease_token = ${token}, lease_until = ${until}, tries = d.tries + 1
      from notifications n
      where d.merchant_id = ${key.merchant_id} and d.tx_reference = ${key.tx_reference}
        and d.sequence = ${first.sequence}
        and n.merchant_id = d.merchant_id and n.tx_reference = d.tx_reference and n.sequence = d.sequence
      returning ${takenColumns}`)
    return taken && { ...taken, lease_token: token, lease_until: until }
  })

// What came of a try: acknowledged, to be tried again, or exhausted.
export type Outcome = NotificationKey & {
  lease_token: string
  started_at: Date
  result: Result
  next_try_at: Date | null
  acknowledged_at: Date | null
  exhausted_at: Date | null
}

// Accepted only with the lease of the try: a worker that was away for too long changes nothing.
export function saveOutcomes(tx: Tx, outcomes: readonly Outcome[]) {
  const { merchants, references, sequences } = keysOf(outcomes)
  return tx.rows<NotificationKey>(named('save_outcomes')`
    update deliveries d set lease_token = null, lease_until = null, held = false, last_try_at = o.started_at,
      last_result = o.result, next_try_at = o.next_try_at, retry = o.next_try_at is not null,
      acknowledged_at = o.acknowledged_at, exhausted_at = o.exhausted_at
    from unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[],
        ${outcomes.map(o => o.lease_token)}::text[], ${outcomes.map(o => o.started_at)}::timestamptz[],
        ${outcomes.map(o => o.result)}::text[], ${outcomes.map(o => o.next_try_at)}::timestamptz[],
        ${outcomes.map(o => o.acknowledged_at)}::timestamptz[], ${outcomes.map(o => o.exhausted_at)}::timestamptz[])
      as o (merchant_id, tx_reference, sequence, lease_token, started_at, result, next_try_at, acknowledged_at,
        exhausted_at)
    where d.merchant_id = o.merchant_id and d.tx_reference = o.tx_reference and d.sequence = o.sequence
      and d.lease_token = o.lease_token
    returning d.merchant_id, d.tx_reference, d.sequence`)
}

// For the operator. Held ones are due too: they wait for their lane.
export type DeliveryStats = { due: number; held: number; oldest_due_at: Date | null }

export const deliveryStats = async (tx: Tx, now: Date) =>
  (await tx.one<DeliveryStats>(sql`
    select count(*) filter (where not held)::integer as due, count(*) filter (where held)::integer as held,
      min(begun_at) as oldest_due_at
    from deliveries where next_try_at is not null and (next_try_at <= ${now} or held)`)) as DeliveryStats
