import type { Sql } from 'sql-template-tag'
import { type Db, named, type Query, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../ofMerchants.ts'
import { takeUnlocked } from '../skipLocked.ts'
import { type AskLease, type Claimed, type DueAttempt, dueOf, returning } from './dueAttempts.ts'

// `isTaken`: by us, who ask at once; else it is due for whoever looks.
export type Knock = { merchant_id: string; attempt_id: string; isTaken: boolean }

// The providers of many attempts knocked: each is asked about now. Gives back those that there are, of which something
// is left to learn, and that nobody else holds. The time changes even when one is due already, so that an answer to an
// older question is not taken for the answer to this one.
export const knockAtAttempts = (db: Db, knocks: readonly Knock[], lease: AskLease) =>
  takeUnlocked<Knock, DueAttempt>(db, {
    skipping: tx =>
      attempts(
        tx,
        named('knock_skipping')`with due as (
        select due.*
        from ${keysOf(knocks)} join attempts a on a.merchant_id = due.merchant_id and a.attempt_id = due.attempt_id
        for update of a skip locked)
      ${knock(sql`due`, lease)} ${returning(sql`true`)}`,
      ),
    find: async () => knocks,
    waiting: (tx, some) =>
      attempts(
        tx,
        named('knock_waiting')`${knock(keysOf(some), lease)} and ${ofMerchants('a', some)}
        and ${ofMerchants('p', some)} and ${ofMerchants('m', some)} ${returning(sql`true`)}`,
      ),
  })

const attempts = async (tx: Tx, query: Query) => (await tx.rows<Claimed>(query)).map(dueOf)

const keysOf = (knocks: readonly Knock[]) => sql`
  unnest(${knocks.map(k => k.merchant_id)}::text[], ${knocks.map(k => k.attempt_id)}::text[],
    ${knocks.map(k => k.isTaken)}::boolean[]) as due (merchant_id, attempt_id, is_taken)`

const knock = (due: Sql, { now, until }: AskLease) => sql`
  update attempts a set knocked = true, lease_until = case when due.is_taken then ${until}::timestamptz end,
    asks = a.asks + due.is_taken::integer, next_ask_at = least(${now}::timestamptz,
      (a.next_ask_at at time zone 'UTC' - interval '1 millisecond') at time zone 'UTC')
  from ${due} join payments p on p.merchant_id = due.merchant_id
    join merchants m on m.merchant_id = due.merchant_id
  where a.merchant_id = due.merchant_id and a.attempt_id = due.attempt_id and p.tx_reference = a.tx_reference
    and a.state <> 'paid'`
