import type { Attempt } from '../../core/payment/attempt.ts'
import type { OpenedIdentity } from '../../core/provider/accountIdentity.ts'
import type { Refund } from '../../core/refund/refund.ts'
import { type Db, named, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { isOfHere, openedHere, type PollLease } from '../payments/dueAttempts.ts'
import { ofReachableMerchants } from '../reachableMerchants.ts'
import { takeUnlocked } from '../skipLocked.ts'
import type { RefundKey } from './refunds.ts'

// How many refunds of one provider account may be claimed.
export type RefundRoom = Omit<OpenedIdentity, 'identity'> & { most: number }

const longestLeaseMs = 120_000

// A lease that ends later than any lease can was written before the clock was set back.
export const isRefundFree = (now: Date) => sql`(lease_until is null or lease_until <= ${now}
  or lease_until > ${new Date(now.getTime() + longestLeaseMs)})`

// Claims due refunds under a lease, so that no other worker sends or polls them at the same time. If this one dies, the lease
// ends and another worker continues. The oldest of each account come first, and locked refunds are skipped.
export const claimDueRefunds = (db: Db, rooms: readonly RefundRoom[], lease: PollLease) =>
  takeUnlocked<RefundKey, Refund>(db, {
    skipping: tx =>
      tx.rows<Refund>(named('claim_due_refunds')`
        with due as (${dueUnlocked(rooms, lease)})
        update refunds r set lease_until = ${lease.until}, polls = r.polls + 1 from due
        where r.merchant_id = due.merchant_id and r.refund_reference = due.refund_reference
        returning r.*`),
    find: tx => findDue(tx, rooms, lease),
    waiting: (tx, keys) =>
      tx.rows<Refund>(sql`
        update refunds r set lease_until = ${lease.until}, polls = r.polls + 1
        from unnest(${keys.map(k => k.merchant_id)}::text[], ${keys.map(k => k.refund_reference)}::text[])
          as due (merchant_id, refund_reference)
        where r.merchant_id = due.merchant_id and r.refund_reference = due.refund_reference
          and r.next_poll_at <= ${lease.now} and ${isRefundFree(lease.now)} and ${ofMerchants('r', keys)}
        returning r.*`),
  })

const dueUnlocked = (rooms: readonly RefundRoom[], { now }: PollLease) => sql`
  select found.* from unnest(${rooms.map(r => r.account)}::text[], ${rooms.map(r => r.mode)}::text[],
      ${rooms.map(r => r.identities.join(','))}::text[], ${rooms.map(r => r.most)}::integer[])
      as here (account, mode, identities, most),
    lateral (
      select merchant_id, refund_reference from refunds t
      where ${isOfHere('t')} and t.next_poll_at <= ${now} and ${isRefundFree(now)}
      order by next_poll_at limit here.most for update skip locked) as found
  limit ${rooms.reduce((sum, { most }) => sum + most, 0)}`

async function findDue(tx: Tx, rooms: readonly RefundRoom[], { now }: PollLease): Promise<RefundKey[]> {
  const found: RefundKey[] = []
  for (const { account, mode, identities, most } of rooms)
    found.push(
      ...(
        await ofReachableMerchants(tx, among =>
          tx.rows<RefundKey>(sql`
        select merchant_id, refund_reference from refunds
        where provider_account = ${account} and next_poll_at <= ${now} and ${isRefundFree(now)} and mode = ${mode}
          and (account_identity is null or account_identity = any(${identities})) ${among.merchants('merchant_id')}
        order by next_poll_at limit ${most}`),
        )
      ).slice(0, most),
    )
  return found
}

// A webhook or a callback named the refund: it is due now, and the lease of an older poll ends. A refund that succeeded, and
// one that is made by hand, have nothing to ask. `next_poll_at` changes even if the refund is due already, so that the reply
// to an older poll does not count as the reply to the next one.
export const promptRefund = async (tx: Tx, { merchant_id, refund_reference }: RefundKey, now: Date) =>
  (await tx.count(named('prompt_refund')`
    update refunds set lease_until = null, next_poll_at = ${dueNow(now)}
    where merchant_id = ${merchant_id} and refund_reference = ${refund_reference} and ${isPolled}`)) > 0

// The same for all open refunds of a charge.
export const promptRefundsOf = async (
  tx: Tx,
  { merchant_id, tx_reference, attempt_id }: Pick<Attempt, 'merchant_id' | 'tx_reference' | 'attempt_id'>,
  now: Date,
) =>
  tx.count(named('prompt_refunds_of')`
    update refunds set lease_until = null, next_poll_at = ${dueNow(now)}
    where merchant_id = ${merchant_id} and tx_reference = ${tx_reference} and attempt_id = ${attempt_id} and ${isPolled}`)

const isPolled = sql`state <> 'succeeded' and kind = 'provider' and sent_at is not null`

const dueNow = (now: Date) => sql`least(${now}::timestamptz,
  (next_poll_at at time zone 'UTC' - interval '1 millisecond') at time zone 'UTC')`

// A reply could not be stored. The refund is polled again, but later than its lease ends.
export const postponeRefund = (tx: Tx, r: Refund, next_poll_at: Date) =>
  tx.rows(named('postpone_refund')`
    update refunds set next_poll_at = ${next_poll_at}, lease_until = null
    where merchant_id = ${r.merchant_id} and refund_reference = ${r.refund_reference} and polls = ${r.polls}
      and next_poll_at = ${r.next_poll_at}`)

// Overdue refunds that no node has leased and whose account is not open here, the oldest first, without those whose charge
// has the task already. While a worker is gone, up to `limit` of each of the others.
export const overdueRefundsElsewhere = (
  tx: Tx,
  opened: readonly OpenedIdentity[],
  { since, now, limit }: { since: Date; now: Date; limit: number },
) =>
  ofReachableMerchants(tx, among =>
    tx.rows<Refund>(sql`
    select r.* from refunds r
    where r.next_poll_at <= ${since} and ${isRefundFree(now)}
      and not exists (select from ${openedHere(opened)} where ${isOfHere('r')})
      and not exists (select from tasks t where t.merchant_id = r.merchant_id and t.attempt_id = r.attempt_id
        and t.kind = 'not_set_up' ${among.merchants('t.merchant_id')})
      ${among.merchants('r.merchant_id')}
    order by r.next_poll_at limit ${limit}`),
  )
