import type { Try } from '../../core/notification/delivery.ts'
import type { NotificationKey } from '../../core/notification/notification.ts'
import { named, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import type { PaymentKey } from '../payments/paymentKeys.ts'
import { keysOf, unnestDeliveryKeys } from './deliveries.ts'

// The last try of a delivery is stored in its row, the earlier ones are rows of `tries`.
const columns = sql`merchant_id, tx_reference, sequence, try, started_at, ms, address, status, result, words, answer`
const lastColumns = sql`merchant_id, tx_reference, sequence, last_try as try, last_try_at as started_at,
  last_ms as ms, last_address as address, last_status as status, last_result as result, last_words as words,
  last_answer as answer`

// Each try once: the last one may be in `tries` already, if the result of the worker that moved it was not accepted.
export const everyTry = sql`(
  select ${lastColumns} from deliveries where last_try is not null union all
  select ${columns} from tries t where not exists (select from deliveries d where d.merchant_id = t.merchant_id
    and d.tx_reference = t.tx_reference and d.sequence = t.sequence and d.last_try = t.try))`

// For tries whose result the delivery did not accept, because another worker had taken it by then.
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

// Copies the last try of each delivery to `tries`, before the newest try replaces it. Only with the lease.
export const moveLastTries = (tx: Tx, leased: readonly (NotificationKey & { lease_token: string })[]) =>
  tx.rows(named('move_last_tries')`
    insert into tries (${columns})
    select ${sql`d.merchant_id, d.tx_reference, d.sequence, d.last_try, d.last_try_at, d.last_ms, d.last_address,
      d.last_status, d.last_result, d.last_words, d.last_answer`}
    from unnest(${leased.map(l => l.merchant_id)}::text[], ${leased.map(l => l.tx_reference)}::text[],
        ${leased.map(l => l.sequence)}::integer[], ${leased.map(l => l.lease_token)}::text[])
        as l (merchant_id, tx_reference, sequence, lease_token)
      join deliveries d on d.merchant_id = l.merchant_id and d.tx_reference = l.tx_reference
        and d.sequence = l.sequence and d.lease_token = l.lease_token
    where d.last_try is not null and ${ofMerchants('d', leased)}
    on conflict (merchant_id, tx_reference, sequence, try) do nothing`)

export const triesOf = (tx: Tx, { merchant_id, tx_reference, sequence }: NotificationKey) =>
  tx.rows<Try>(sql`
    select * from ${everyTry} t where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}
      and sequence = ${sequence} order by try`)

export const triesOfPayment = (tx: Tx, { merchant_id, tx_reference }: PaymentKey) =>
  tx.rows<Try>(sql`
    select * from ${everyTry} t where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}
    order by sequence, try`)

// Removes tries before a time, also the last try in the row of a delivery, but not the state of the delivery. Returns how
// many. Oldest first, so that both are found by their index.
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
  return tx.count(sql`
    update deliveries d set last_try = null, last_ms = null, last_address = null, last_status = null,
      last_words = null, last_answer = null
    from ${unnestDeliveryKeys(found)}
    where d.merchant_id = k.merchant_id and d.tx_reference = k.tx_reference and d.sequence = k.sequence
      and d.last_try is not null and d.last_try_at < ${before} and ${ofMerchants('d', found)}`)
}
