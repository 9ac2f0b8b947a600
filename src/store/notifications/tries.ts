import type { Result } from '../../core/notification/delivery.ts'
import type { NotificationKey } from '../../core/notification/notification.ts'
import { named, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import type { PaymentKey } from '../payments/paymentKeys.ts'
import { keysOf } from './notificationKeys.ts'

// One HTTP request of a delivery, and what came of it. The last one stands in the row of its delivery, those before it
// are rows of `tries`.
export type Try = NotificationKey & {
  try: number
  started_at: Date
  ms: number
  address: string | null
  status: number | null
  result: Result
  words: string
  answer: Buffer | null // the beginning of what came back
}

const columns = sql`merchant_id, tx_reference, sequence, try, started_at, ms, address, status, result, words, answer`
const lastColumns = sql`merchant_id, tx_reference, sequence, last_try as try, last_try_at as started_at,
  last_ms as ms, last_address as address, last_status as status, last_result as result, last_words as words,
  last_answer as answer`

// Each once: the last one may have moved already, by the hand of a worker whose result was not accepted.
export const everyTry = sql`(
  select ${lastColumns} from deliveries where last_try is not null union all
  select ${columns} from tries t where not exists (select from deliveries d where d.merchant_id = t.merchant_id
    and d.tx_reference = t.tx_reference and d.sequence = t.sequence and d.last_try = t.try))`

// Those of which the delivery knows nothing: another worker had taken it by then.
export const addTries = (tx: Tx, tries: readonly Try[]) =>
  tx.rows(sql`
    insert into tries (${columns})
    select t.* from unnest(${tries.map(t => t.merchant_id)}::text[],
        ${tries.map(t => t.tx_reference)}::text[], ${tries.map(t => t.sequence)}::integer[],
        ${tries.map(t => t.try)}::integer[], ${tries.map(t => t.started_at)}::timestamptz[],
        ${tries.map(t => t.ms)}::integer[], ${tries.map(t => t.address)}::text[],
        ${tries.map(t => t.status)}::integer[], ${tries.map(t => t.result)}::text[],
        ${tries.map(t => t.words)}::text[], ${tries.map(t => t.answer)}::bytea[])
      as t (${columns})
      left join deliveries d on d.merchant_id = t.merchant_id and d.tx_reference = t.tx_reference
        and d.sequence = t.sequence and d.last_try = t.try and ${ofMerchants('d', tries)}
    where d.merchant_id is null
    on conflict (merchant_id, tx_reference, sequence, try) do nothing`)

type Held = NotificationKey & { lease_token: string }

// Before the delivery takes its newest try in: the one that stands there moves. Only for who holds the lease.
export const moveLastTries = (tx: Tx, held: readonly Held[]) =>
  tx.rows(named('move_last_tries')`
    insert into tries (${columns})
    select ${sql`d.merchant_id, d.tx_reference, d.sequence, d.last_try, d.last_try_at, d.last_ms, d.last_address,
      d.last_status, d.last_result, d.last_words, d.last_answer`}
    from unnest(${held.map(h => h.merchant_id)}::text[], ${held.map(h => h.tx_reference)}::text[],
        ${held.map(h => h.sequence)}::integer[], ${held.map(h => h.lease_token)}::text[])
        as h (merchant_id, tx_reference, sequence, lease_token)
      join deliveries d on d.merchant_id = h.merchant_id and d.tx_reference = h.tx_reference
        and d.sequence = h.sequence and d.lease_token = h.lease_token
    where d.last_try is not null and ${ofMerchants('d', held)}
    on conflict (merchant_id, tx_reference, sequence, try) do nothing`)

export const triesOf = (tx: Tx, { merchant_id, tx_reference, sequence }: NotificationKey) =>
  tx.rows<Try>(sql`
    select * from ${everyTry} t where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}
      and sequence = ${sequence} order by try`)

export const triesOfPayment = (tx: Tx, { merchant_id, tx_reference }: PaymentKey) =>
  tx.rows<Try>(sql`
    select * from ${everyTry} t where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}
    order by sequence, try`)

// What the last try was is forgotten with them; how the delivery ended is not. Gives back how many there were. The oldest
// first: so both are found by an index that has no others in it. On most days there is nothing to find, and nothing is
// written.
export const forgetTries = async (tx: Tx, before: Date, limit: number): Promise<number> =>
  (await forgetEarlier(tx, before, limit)) + (await forgetLast(tx, before, limit))

async function forgetEarlier(tx: Tx, before: Date, limit: number): Promise<number> {
  const found = await tx.rows<NotificationKey & Pick<Try, 'try'>>(sql`
    select merchant_id, tx_reference, sequence, try from tries
    where started_at < ${before} order by started_at limit ${limit}`)
  if (found.length === 0) return 0
  const { merchants, references, sequences } = keysOf(found)
  return tx.count(sql`
    delete from tries t
    using unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[],
        ${found.map(one => one.try)}::integer[]) as k (merchant_id, tx_reference, sequence, try)
    where t.merchant_id = k.merchant_id and t.tx_reference = k.tx_reference and t.sequence = k.sequence
      and t.try = k.try and ${ofMerchants('t', found)}`)
}

async function forgetLast(tx: Tx, before: Date, limit: number): Promise<number> {
  const found = await tx.rows<NotificationKey>(sql`
    select merchant_id, tx_reference, sequence from deliveries
    where last_try_at < ${before} and last_try is not null order by last_try_at limit ${limit}`)
  if (found.length === 0) return 0
  const { merchants, references, sequences } = keysOf(found)
  return tx.count(sql`
    update deliveries d set last_try = null, last_ms = null, last_address = null, last_status = null,
      last_words = null, last_answer = null
    from unnest(${merchants}::text[], ${references}::text[], ${sequences}::integer[])
      as k (merchant_id, tx_reference, sequence)
    where d.merchant_id = k.merchant_id and d.tx_reference = k.tx_reference and d.sequence = k.sequence
      and d.last_try is not null and d.last_try_at < ${before} and ${ofMerchants('d', found)}`)
}
