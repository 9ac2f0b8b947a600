import type { Mode } from '../../core/mode.ts'
import type { Delivery } from '../../core/notification/delivery.ts'
import { sql, type Tx } from '../db.ts'

// Deliveries of a merchant that were given up since a moment.
export const countExhausted = async (tx: Tx, merchant_id: string, mode: Mode, from: Date) =>
  (await tx.one<{ count: number; since: Date | null }>(sql`
    select count(*)::integer as count, min(created_at) as since from deliveries
    where merchant_id = ${merchant_id} and mode = ${mode} and exhausted_at > ${from}`)) as {
    count: number
    since: Date | null
  }

type Exhausted = Pick<Delivery, 'tx_reference' | 'sequence' | 'url' | 'last_result'> & {
  words: string | null
}

// The latest of them, with the words of the last try.
export const listExhausted = (tx: Tx, merchant_id: string, mode: Mode, from: Date, limit: number) =>
  tx.rows<Exhausted>(sql`
    select d.tx_reference, d.sequence, d.url, d.last_result, d.last_words as words from deliveries d
    where d.merchant_id = ${merchant_id} and d.mode = ${mode} and d.exhausted_at > ${from}
    order by d.exhausted_at desc limit ${limit}`)
