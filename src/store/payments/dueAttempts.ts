import { raw, type Sql } from 'sql-template-tag'
import type { Attempt } from '../../core/payment/attempt.ts'
import type { OpenedIdentity } from '../../core/provider/accountIdentity.ts'
import { type Db, named, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { ofReachableMerchants } from '../reachableMerchants.ts'
import { takeUnlocked } from '../skipLocked.ts'
import type { OrderedPayment } from './paymentLife.ts'

// How many attempts of one provider account may be claimed: of those with a callback, or of those that are due by schedule.
// Attempts of another mode or business under the same account name are left to the nodes that have that account.
export type Room = Omit<OpenedIdentity, 'identity'> & { callback_received: boolean; most: number }
export type PollLease = { now: Date; until: Date }
// With the payment's fields that its order contains.
export type DueAttempt = Attempt & { by_callback: boolean; payment: OrderedPayment }

type Key = Pick<Attempt, 'merchant_id' | 'attempt_id' | 'tx_reference'> & { callback_received: boolean }

// Claims due attempts under a lease, so that no other worker polls them at the same time. If this one dies, the lease ends
// and another worker polls; polling twice does no harm. The oldest of each room come first, and locked attempts are
// skipped. The claim changes no indexed column: `next_poll_at` and `callback_received` change with the reply.
export const claimDueAttempts = (db: Db, rooms: readonly Room[], lease: PollLease) =>
  takeUnlocked<Key, DueAttempt>(db, {
    skipping: async tx =>
      (
        await tx.rows<ClaimedRow>(
          named(
            'claim_due_attempts',
          )`with due as (${dueUnlocked(rooms, lease)}) ${claim(sql`due`, lease)} ${returning(sql`due.callback_received`)}`,
        )
      ).map(dueOf),
    find: tx => findDue(tx, rooms, lease),
    waiting: async (tx, keys) =>
      (
        await tx.rows<ClaimedRow>(sql`${claim(keysOf(keys), lease)} and ${ofMerchants('a', keys)}
        and ${ofMerchants('p', keys)} and ${ofMerchants('m', keys)} ${returning(sql`due.callback_received`)}`)
      ).map(dueOf),
  })

// The accounts that are open here, as a table to compare attempts with. The same rule in TypeScript is `isSameAccount` in
// core/provider/accountIdentity.ts.
export const openedHere = (opened: readonly OpenedIdentity[]) => sql`
  unnest(${opened.map(one => one.account)}::text[], ${opened.map(one => one.mode)}::text[],
    ${opened.map(one => one.identities.join(','))}::text[]) as here (account, mode, identities)`

export const isOfHere = (attempt: string) => {
  const a = raw(attempt)
  return sql`${a}.provider_account = here.account and (${a}.mode is null or ${a}.mode = here.mode)
    and (${a}.account_identity is null or ${a}.account_identity = any(string_to_array(here.identities, ',')))`
}

const longestLeaseMs = 60_000

// A lease that ends later than any lease can was written before the clock was set back.
export const isAttemptFree = (now: Date) => sql`(lease_until is null or lease_until <= ${now}
  or lease_until > ${new Date(now.getTime() + longestLeaseMs)})`

// One index scan per room, however many attempts are due in other rooms. The outer limit removes no row: without it the
// planner expects a tenth of all due attempts.
const dueUnlocked = (rooms: readonly Room[], { now }: PollLease) => sql`
  select found.* from unnest(${rooms.map(r => r.account)}::text[], ${rooms.map(r => r.mode)}::text[],
      ${rooms.map(r => r.identities.join(','))}::text[], ${rooms.map(r => r.callback_received)}::boolean[],
      ${rooms.map(r => r.most)}::integer[]) as here (account, mode, identities, callback_received, most),
    lateral (
      select merchant_id, attempt_id, tx_reference, callback_received from attempts t
      where ${isOfHere('t')} and t.callback_received = here.callback_received and t.next_poll_at <= ${now} and ${isAttemptFree(now)}
      order by next_poll_at limit here.most for update skip locked) as found
  limit ${rooms.reduce((sum, { most }) => sum + most, 0)}`

async function findDue(tx: Tx, rooms: readonly Room[], { now }: PollLease): Promise<Key[]> {
  const found: Key[] = []
  for (const { account, mode, identities, callback_received, most } of rooms)
    found.push(
      ...(
        await ofReachableMerchants(tx, among =>
          tx.rows<Key>(sql`
        select merchant_id, attempt_id, tx_reference, callback_received from attempts
        where provider_account = ${account} and callback_received = ${callback_received} and next_poll_at <= ${now} and ${isAttemptFree(now)}
          and (mode is null or mode = ${mode})
          and (account_identity is null or account_identity = any(${identities})) ${among.merchants('merchant_id')}
        order by next_poll_at limit ${most}`),
        )
      ).slice(0, most),
    )
  return found
}

const keysOf = (keys: readonly Key[]) => sql`
  unnest(${keys.map(k => k.merchant_id)}::text[], ${keys.map(k => k.attempt_id)}::text[],
    ${keys.map(k => k.tx_reference)}::text[], ${keys.map(k => k.callback_received)}::boolean[])
    as due (merchant_id, attempt_id, tx_reference, callback_received)`

const claim = (due: Sql, { now, until }: PollLease) => sql`
  update attempts a set lease_until = ${until}, polls = a.polls + 1
  from ${due}
    join payments p on p.merchant_id = due.merchant_id and p.tx_reference = due.tx_reference
    join merchants m on m.merchant_id = due.merchant_id
  where a.merchant_id = due.merchant_id and a.attempt_id = due.attempt_id and a.next_poll_at <= ${now}
    and ${isAttemptFree(now)}`

export const returning = (byCallback: Sql) => sql`
  returning a.*, ${byCallback} as by_callback, p.invoice_id, p.tx_token, p.total, p.currency, p.description,
    p.email as payment_email, p.name as payment_name, p.number as payment_phone, p.status as payment_status, p.cancel_requested_at, m.name as merchant_name`

export type ClaimedRow = Attempt &
  Omit<OrderedPayment, 'status' | 'email' | 'name' | 'number'> & {
    by_callback: boolean
    payment_status: OrderedPayment['status']
    payment_email: string | null
    payment_name: string | null
    payment_phone: string | null // `number` is the attempt's
  }

export function dueOf(row: ClaimedRow): DueAttempt {
  const { invoice_id, tx_token, total, currency, description, cancel_requested_at, merchant_name, ...rest } =
    row
  const {
    payment_status: status,
    payment_email: email,
    payment_name: name,
    payment_phone: number,
    ...attempt
  } = rest
  const { merchant_id, tx_reference } = attempt
  const order = {
    merchant_id,
    tx_reference,
    invoice_id,
    tx_token,
    total,
    currency,
    description,
    merchant_name,
  }
  return { ...attempt, payment: { ...order, cancel_requested_at, status, email, name, number } }
}

export type OverdueAttempt = Attempt & { has_task: boolean }

// Overdue attempts that no node has leased and whose account is not open here, the oldest first. Nothing is claimed. While a
// worker is gone, up to `limit` of each of the others.
export const overdueElsewhere = (
  tx: Tx,
  opened: readonly OpenedIdentity[],
  { since, now, limit }: { since: Date; now: Date; limit: number },
) =>
  ofReachableMerchants(tx, among =>
    tx.rows<OverdueAttempt>(sql`
    select a.*, exists (select from tasks t where t.merchant_id = a.merchant_id and t.attempt_id = a.attempt_id
      and t.kind = 'not_set_up' ${among.merchants('t.merchant_id')}) as has_task
    from attempts a
    where a.next_poll_at <= ${since} and ${isAttemptFree(now)}
      and not exists (select from ${openedHere(opened)} where ${isOfHere('a')}) ${among.merchants('a.merchant_id')}
    order by has_task, a.next_poll_at limit ${limit}`),
  )

// Claims an attempt that ends without a reply of its provider. False if another node has claimed it.
export const claimOverdue = async (tx: Tx, { merchant_id, attempt_id, polls }: Attempt, lease: PollLease) =>
  (await tx.count(sql`
    update attempts set lease_until = ${lease.until}, polls = polls + 1
    where merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and polls = ${polls} and ${isAttemptFree(lease.now)}`)) >
  0

// A reply could not be stored. The attempt is polled again, but later than its lease ends.
export const postponeAttempt = (tx: Tx, a: Attempt, next_poll_at: Date) =>
  tx.rows(named('postpone_attempt')`
    update attempts set next_poll_at = ${next_poll_at}, callback_received = false, lease_until = null
    where merchant_id = ${a.merchant_id} and attempt_id = ${a.attempt_id} and polls = ${a.polls}
      and next_poll_at = ${a.next_poll_at}`)
