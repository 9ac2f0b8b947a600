import type { DueKind } from '../core/dueKinds.ts'
import type { OpenedIdentity } from '../core/provider/accountIdentity.ts'
import { named, sql, type Tx } from './db.ts'
import { isAttemptFree } from './payments/dueAttempts.ts'
import { type Among, amongAll, ofReachableMerchants } from './reachableMerchants.ts'
import { isRefundFree } from './refunds/dueRefunds.ts'

// What a due check needs to know about this node.
export type DueCheck = {
  now: Date
  opened: readonly OpenedIdentity[] // attempts and refunds of other accounts are left to other nodes
  expiredBefore: Date // payments that expired earlier have been searched
}

type DueRow = { kind: DueKind; at: Date | null; version: string | null }

// When the earliest work of each kind is due, and the versions of the provider accounts. One statement for all, so that an
// idle node costs little. Each part reads the front of the index that the search for its work reads. Rows under a lease are
// in progress; when a lease ends without a result, a later check finds the row.
export const readDueTimes = (tx: Tx, check: DueCheck) =>
  tx.rows<DueRow>(named('due_times')`
    with here as (
      select * from unnest(${check.opened.map(one => one.account)}::text[], ${check.opened.map(one => one.mode)}::text[])
        as accounts (account, mode))
    ${ofEachTable(check, amongAll)}
    union all
    (select 'attempts', min(due.next_poll_at), null from here, (values (true), (false)) as kinds (callback_received),
      lateral (
        select next_poll_at from attempts a
        where a.provider_account = here.account and a.callback_received = kinds.callback_received
          and (a.mode is null or a.mode = here.mode)
          and a.next_poll_at is not null and ${isAttemptFree(check.now)}
        order by a.next_poll_at limit 1) as due)
    union all
    (select 'refunds', min(due.next_poll_at), null from here,
      lateral (
        select next_poll_at from refunds r
        where r.provider_account = here.account and r.mode = here.mode
          and r.next_poll_at is not null and ${isRefundFree(check.now)}
        order by r.next_poll_at limit 1) as due)`)

// A sharded database refuses a LIMIT for each account, so this reads all attempts and refunds that are still polled. Their
// number does not grow with the number of payments. While a worker is gone, each of the others has its own rows of each kind.
export const readDueTimesOfShards = (tx: Tx, check: DueCheck) => {
  const accounts = check.opened.map(one => one.account)
  const pairs = check.opened.map(one => `${one.account} ${one.mode}`)
  return ofReachableMerchants(tx, among =>
    tx.rows<DueRow>(named(`due_times_of_shards${among.suffix}`)`
    ${ofEachTable(check, among)}
    union all
    (select 'attempts', min(next_poll_at), null from attempts a
      where provider_account = any(${accounts}::text[])
        and (mode is null or provider_account || ' ' || mode = any(${pairs}::text[]))
        and next_poll_at is not null and ${isAttemptFree(check.now)} ${among.merchants('merchant_id')})
    union all
    (select 'refunds', min(next_poll_at), null from refunds r
      where provider_account = any(${accounts}::text[]) and provider_account || ' ' || mode = any(${pairs}::text[])
        and next_poll_at is not null and ${isRefundFree(check.now)} ${among.merchants('merchant_id')})`),
  )
}

const ofEachTable = ({ now, expiredBefore }: DueCheck, { merchants }: Among) => sql`
    (select 'deliveries' as kind, next_try_at as at, null as version from deliveries
      where retry = false and next_try_at is not null and (lease_until is null or lease_until <= ${now})
        ${merchants('merchant_id')}
      order by next_try_at limit 1)
    union all
    (select 'deliveries', next_try_at, null from deliveries
      where retry = true and next_try_at is not null and (lease_until is null or lease_until <= ${now})
        ${merchants('merchant_id')}
      order by next_try_at limit 1)
    union all
    (select 'parked', null, null from deliveries where parked ${merchants('merchant_id')} limit 1)
    union all
    (select 'sms', next_try_at, null from messages
      where medium = 'sms' and next_try_at is not null ${merchants('merchant_id')} order by next_try_at limit 1)
    union all
    (select 'email', next_try_at, null from messages
      where medium = 'email' and next_try_at is not null ${merchants('merchant_id')} order by next_try_at limit 1)
    union all
    (select 'expiry', expires_at, null from payments
      where status = 'awaiting_payment' and expires_at >= ${expiredBefore} ${merchants('merchant_id')}
      order by expires_at limit 1)
    union all
    (select 'userMails', min(due_at), null from user_mails)
    union all
    (select 'accounts', null, concat((select max(version) from provider_accounts), ' ',
      (select max(version) from provider_businesses)))`
