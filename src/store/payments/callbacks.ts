import { raw, type Sql } from 'sql-template-tag'
import type { Attempt } from '../../core/payment/attempt.ts'
import type { OpenedIdentity } from '../../core/provider/accountIdentity.ts'
import { type Db, named, type Query, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { takeUnlocked } from '../skipLocked.ts'
import {
  type ClaimedRow,
  type DueAttempt,
  dueOf,
  isOfHere,
  openedHere,
  type PollLease,
  returning,
} from './dueAttempts.ts'

// What makes an attempt due before its scheduled poll: a callback, a webhook, or the customer's return from the provider's
// page.

type AttemptKey = Pick<Attempt, 'merchant_id' | 'attempt_id'>

// `isTaken`: this node has a free slot to poll immediately. It leases the attempt only if the attempt's account is open here;
// otherwise the attempt is due for the nodes that have the account.
type AttemptCallback = { merchant_id: string; attempt_id: string; isTaken: boolean }
type CallbackAttempt = DueAttempt & { is_leased: boolean }

// Marks attempts whose provider called back as due now. Returns those that exist, are not paid and are not locked by
// another transaction. `next_poll_at` changes even if the attempt is due already, so that the reply to an older poll
// does not count as the reply to the next one.
export const recordCallbacks = (
  db: Db,
  callbacks: readonly AttemptCallback[],
  lease: PollLease,
  opened: readonly OpenedIdentity[],
) =>
  takeUnlocked<AttemptCallback, CallbackAttempt>(db, {
    skipping: tx =>
      attempts(
        tx,
        named('record_callbacks_skipping')`with due as (
        select due.*
        from ${keysOf(callbacks)} join attempts a on a.merchant_id = due.merchant_id and a.attempt_id = due.attempt_id
        for update of a skip locked)
      ${record(sql`due`, lease, opened)} ${returning(sql`true`)}, ${isLeased}`,
      ),
    find: async () => callbacks,
    waiting: (tx, some) =>
      attempts(
        tx,
        named('record_callbacks_waiting')`${record(keysOf(some), lease, opened)} and ${ofMerchants('a', some)}
        and ${ofMerchants('p', some)} and ${ofMerchants('m', some)} ${returning(sql`true`)}, ${isLeased}`,
      ),
  })

// Attempts that do not exist are left out.
export const readAttemptStates = (tx: Tx, keys: readonly AttemptKey[]) =>
  tx.rows<Pick<Attempt, 'attempt_id' | 'state'>>(named('attempt_states')`
    select a.attempt_id, a.state
    from unnest(${keys.map(k => k.merchant_id)}::text[], ${keys.map(k => k.attempt_id)}::text[])
      as k (merchant_id, attempt_id)
    join attempts a on a.merchant_id = k.merchant_id and a.attempt_id = k.attempt_id
    where ${ofMerchants('a', keys)}`)

type RecordedRow = ClaimedRow & { is_leased: boolean }
const attempts = async (tx: Tx, query: Query): Promise<CallbackAttempt[]> =>
  (await tx.rows<RecordedRow>(query)).map(({ is_leased, ...row }) => ({ ...dueOf(row), is_leased }))

const isLeased = sql`a.lease_until is not null as is_leased`

const keysOf = (callbacks: readonly AttemptCallback[]) => sql`
  unnest(${callbacks.map(k => k.merchant_id)}::text[], ${callbacks.map(k => k.attempt_id)}::text[],
    ${callbacks.map(k => k.isTaken)}::boolean[]) as due (merchant_id, attempt_id, is_taken)`

const takenHere = (opened: readonly OpenedIdentity[]) =>
  sql`(due.is_taken and exists (select from ${openedHere(opened)} where ${isOfHere('a')}))`

const record = (due: Sql, { now, until }: PollLease, opened: readonly OpenedIdentity[]) => sql`
  update attempts a set callback_received = true, lease_until = case when ${takenHere(opened)} then ${until}::timestamptz end,
    polls = a.polls + ${takenHere(opened)}::integer, next_poll_at = ${dueNow('a', now)}
  from ${due} join payments p on p.merchant_id = due.merchant_id
    join merchants m on m.merchant_id = due.merchant_id
  where a.merchant_id = due.merchant_id and a.attempt_id = due.attempt_id and p.tx_reference = a.tx_reference
    and a.state <> 'paid'`

// Subtracted in UTC, because that expression is immutable: it does not depend on the session's time zone.
const dueNow = (attempt: string, now: Date) => sql`least(${now}::timestamptz,
  (${raw(attempt)}.next_poll_at at time zone 'UTC' - interval '1 millisecond') at time zone 'UTC')`

// A callback for one attempt: waits for its row if another transaction has locked it. False if there is no such attempt, or
// it is paid.
export const promptAttempt = async (tx: Tx, { merchant_id, attempt_id }: AttemptKey, now: Date) =>
  (await tx.one(named('prompt_attempt')`
    update attempts a set callback_received = true, lease_until = null, next_poll_at = ${dueNow('a', now)}
    where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and state <> 'paid'
    returning 1`)) !== undefined

// A webhook named a refund or a dispute: the next poll reads them, also of a paid attempt.
export const promptReversalCheck = async (tx: Tx, { merchant_id, attempt_id }: AttemptKey, now: Date) =>
  (await tx.one(named('check_reversals')`
    update attempts a set check_reversals = true, callback_received = true, lease_until = null,
      next_poll_at = ${dueNow('a', now)}
    where merchant_id = ${merchant_id} and attempt_id = ${attempt_id}
    returning 1`)) !== undefined

type FoundAttempt = AttemptKey &
  Pick<Attempt, 'tx_reference' | 'provider_account' | 'mode' | 'account_identity'>

const foundColumns = sql`merchant_id, attempt_id, tx_reference, provider_account, mode, account_identity`

// The attempt that a provider names by its order id: the attempt's own id, which contains the merchant's, or another key.
export const findAttemptByKey = (
  tx: Tx,
  provider_account: string,
  key: string,
  merchant_id: string | undefined,
) =>
  merchant_id
    ? tx.one<FoundAttempt>(named('find_by_attempt_id')`
        select ${foundColumns} from attempts
        where merchant_id = ${merchant_id} and attempt_id = ${key} and provider_account = ${provider_account} and idempotency_key is null`)
    : tx.one<FoundAttempt>(named('find_by_idempotency_key')`
        select ${foundColumns} from attempts
        where provider_account = ${provider_account} and idempotency_key = ${key} limit 1`)

// A reference from a webhook never replaces one from a reply.
export const saveProviderReference = (
  tx: Tx,
  { merchant_id, attempt_id }: AttemptKey,
  provider_ref: string,
) =>
  tx.rows(named('save_provider_reference')`
    update attempts set provider_ref = ${provider_ref}
    where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and provider_ref is null`)

// The customer returned from the provider's page. True for one of all returns within the gap, on whichever node. A return
// in the future was stored before the clock was set back.
export const noteReturn = async (
  tx: Tx,
  { merchant_id, attempt_id }: AttemptKey,
  now: Date,
  gapMs: number,
): Promise<boolean> =>
  (await tx.one(sql`
    update attempts set returned_at = ${now}
    where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and state not in ('paid', 'failed')
      and (returned_at is null or returned_at <= ${new Date(now.getTime() - gapMs)} or returned_at > ${now})
    returning 1`)) !== undefined

// The attempt is polled at `by` at the latest.
export const hastenPoll = (tx: Tx, { merchant_id, attempt_id }: AttemptKey, by: Date) =>
  tx.rows(sql`
    update attempts set next_poll_at = ${by}
    where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and next_poll_at > ${by}`)
