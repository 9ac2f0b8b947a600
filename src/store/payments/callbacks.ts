import type { Sql } from 'sql-template-tag'
import type { OpenedIdentity } from '../../core/provider/accountIdentity.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import { type Db, named, type Query, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../ofMerchants.ts'
import { takeUnlocked } from '../skipLocked.ts'
import {
  type PollLease,
  type Claimed,
  type DueAttempt,
  dueOf,
  isOfHere,
  openedHere,
  returning,
} from './dueAttempts.ts'

// `isTaken`: this node has room to ask at once. It leases the attempt only if its account is open here; else the attempt
// is due for the nodes that have the account.
export type AttemptCallback = { merchant_id: string; attempt_id: string; isTaken: boolean }
export type CallbackAttempt = DueAttempt & { is_leased: boolean }

// Marks attempts whose provider called back as due now. Gives back those that there are, of which something
// is left to learn, and that nobody else holds. The time changes even when one is due already, so that an answer to an
// older question is not taken for the answer to this one.
export const recordCallbacks = (
  db: Db,
  knocks: readonly AttemptCallback[],
  lease: PollLease,
  opened: readonly OpenedIdentity[],
) =>
  takeUnlocked<AttemptCallback, CallbackAttempt>(db, {
    skipping: tx =>
      attempts(
        tx,
        named('knock_skipping')`with due as (
        select due.*
        from ${keysOf(knocks)} join attempts a on a.merchant_id = due.merchant_id and a.attempt_id = due.attempt_id
        for update of a skip locked)
      ${knock(sql`due`, lease, opened)} ${returning(sql`true`)}, ${isLeased}`,
      ),
    find: async () => knocks,
    waiting: (tx, some) =>
      attempts(
        tx,
        named('knock_waiting')`${knock(keysOf(some), lease, opened)} and ${ofMerchants('a', some)}
        and ${ofMerchants('p', some)} and ${ofMerchants('m', some)} ${returning(sql`true`)}, ${isLeased}`,
      ),
  })

// Of those that there are.
export const readAttemptStates = (tx: Tx, keys: readonly AttemptKey[]) =>
  tx.rows<Pick<Attempt, 'attempt_id' | 'state'>>(named('attempt_states')`
    select a.attempt_id, a.state
    from unnest(${keys.map(k => k.merchant_id)}::text[], ${keys.map(k => k.attempt_id)}::text[])
      as wanted (merchant_id, attempt_id)
    join attempts a on a.merchant_id = wanted.merchant_id and a.attempt_id = wanted.attempt_id
    where ${ofMerchants('a', keys)}`)

type AttemptKey = Pick<Attempt, 'merchant_id' | 'attempt_id'>
type Knocked = Claimed & { is_leased: boolean }
const attempts = async (tx: Tx, query: Query): Promise<CallbackAttempt[]> =>
  (await tx.rows<Knocked>(query)).map(({ is_leased, ...row }) => ({ ...dueOf(row), is_leased }))

const isLeased = sql`a.lease_until is not null as is_leased`

const keysOf = (knocks: readonly AttemptCallback[]) => sql`
  unnest(${knocks.map(k => k.merchant_id)}::text[], ${knocks.map(k => k.attempt_id)}::text[],
    ${knocks.map(k => k.isTaken)}::boolean[]) as due (merchant_id, attempt_id, is_taken)`

const takenHere = (opened: readonly OpenedIdentity[]) =>
  sql`(due.is_taken and exists (select from ${openedHere(opened)} where ${isOfHere('a')}))`

const knock = (due: Sql, { now, until }: PollLease, opened: readonly OpenedIdentity[]) => sql`
  update attempts a set callback_received = true, lease_until = case when ${takenHere(opened)} then ${until}::timestamptz end,
    polls = a.polls + ${takenHere(opened)}::integer, next_poll_at = least(${now}::timestamptz,
      (a.next_poll_at at time zone 'UTC' - interval '1 millisecond') at time zone 'UTC')
  from ${due} join payments p on p.merchant_id = due.merchant_id
    join merchants m on m.merchant_id = due.merchant_id
  where a.merchant_id = due.merchant_id and a.attempt_id = due.attempt_id and p.tx_reference = a.tx_reference
    and a.state <> 'paid'`
