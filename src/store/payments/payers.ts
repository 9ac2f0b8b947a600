import { sql, type Tx } from '../db.ts'

export type PayerCounts = { merchant_id: string; name: string; tries: number; payers: number }

// How many tries customers made on the pages of each merchant, and from how many addresses, since payments of that
// reference. Only merchants with at least so many tries, and each of them counted up to the limit.
export const countPayers = (tx: Tx, sinceReference: string, atLeast: number, limit: number) =>
  tx.rows<PayerCounts>(sql`
    select m.merchant_id, m.name, recent.tries, recent.payers
    from merchants m cross join lateral (
      select count(*)::integer as tries, count(distinct payer)::integer as payers
      from (select a.payer from attempts a
        where a.merchant_id = m.merchant_id and a.tx_reference >= ${sinceReference}
          and a.payer is not null and a.lang is not null limit ${limit}) as tried) as recent
    where recent.tries >= ${atLeast}`)
