import type { Result } from '../core/delivery.ts'
import type { NotificationKey } from '../core/notification.ts'
import { named, sql, type Tx } from './db.ts'

// One HTTP request of a delivery: one row of `tries`.
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

export const addTries = (tx: Tx, tries: readonly Try[]) =>
  tx.rows(named('add_tries')`
    insert into tries (merchant_id, tx_reference, sequence, try, started_at, ms, address, status, result, words,
      answer)
    select * from unnest(${tries.map(t => t.merchant_id)}::text[], ${tries.map(t => t.tx_reference)}::text[],
      ${tries.map(t => t.sequence)}::integer[], ${tries.map(t => t.try)}::integer[],
      ${tries.map(t => t.started_at)}::timestamptz[], ${tries.map(t => t.ms)}::integer[],
      ${tries.map(t => t.address)}::text[], ${tries.map(t => t.status)}::integer[],
      ${tries.map(t => t.result)}::text[], ${tries.map(t => t.words)}::text[], ${tries.map(t => t.answer)}::bytea[])
    on conflict (merchant_id, tx_reference, sequence, try) do nothing`)

export const triesOf = (tx: Tx, { merchant_id, tx_reference, sequence }: NotificationKey) =>
  tx.rows<Try>(sql`
    select * from tries where merchant_id = ${merchant_id} and tx_reference = ${tx_reference}
      and sequence = ${sequence} order by try`)

// Gives back how many there were.
export const forgetTries = async (tx: Tx, before: Date, limit: number) =>
  (
    await tx.rows(sql`
      delete from tries where (merchant_id, tx_reference, sequence, try) in (
        select merchant_id, tx_reference, sequence, try from tries where started_at < ${before} limit ${limit})
      returning 1`)
  ).length
