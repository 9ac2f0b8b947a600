import type { OverviewScope } from '../../core/overview/figures.ts'
import type { Currency } from '../../core/money.ts'
import { sql, type Tx } from '../db.ts'

type Range = { from: Date; until: Date; firstReference: string; endReference: string }
export type PayTimes = { payments: number; paid: number; seconds: number | null }
export type FailureCount = { status_reason: string; payments: number }

// The newest payments of a period, at most so many. All figures of a sample are about the same payments.
const newestOf = ({ merchant_id, mode }: OverviewScope, r: Range, limit: number) => sql`
  select tx_reference, status, status_reason, paid_attempt_id, created_at from payments
  where merchant_id = ${merchant_id} and mode = ${mode} and tx_reference >= ${r.firstReference}
    and tx_reference < ${r.endReference} and created_at >= ${r.from} and created_at < ${r.until}
  order by tx_reference desc limit ${limit}`

// How long after the request they were paid, on average. The attempts of neighbouring payments are neighbours in the index by
// reference. Ids are random, so in the index by id, which `=` would prefer, each is on a page of its own.
export const payTimes = (tx: Tx, scope: OverviewScope, range: Range, limit: number) =>
  tx.one<PayTimes>(sql`
    select count(*)::integer as payments, count(a.ended_at)::integer as paid,
      (avg(greatest(extract(epoch from a.ended_at - p.created_at), 0)) filter (where a.ended_at is not null))::float8
        as seconds
    from (${newestOf(scope, range, limit)}) as p
      left join attempts a on a.merchant_id = ${scope.merchant_id} and a.tx_reference = p.tx_reference
        and a.attempt_id is not distinct from p.paid_attempt_id and a.state = 'paid'`)

export const failureCounts = (tx: Tx, scope: OverviewScope, range: Range, limit: number) =>
  tx.rows<FailureCount>(sql`
    select status_reason, count(*)::integer as payments from (${newestOf(scope, range, limit)}) as p
    where status in ('failed', 'cancelled') group by status_reason order by payments desc, status_reason limit 50`)

export type OpenDispute = {
  dispute_id: string
  tx_reference: string
  amount: bigint
  currency: Currency
  due_at: Date | null
}

// The oldest open disputes of the payments of a mode.
export const openDisputes = (tx: Tx, { merchant_id, mode }: OverviewScope, limit: number) =>
  tx.rows<OpenDispute>(sql`
    select d.dispute_id, d.tx_reference, d.amount, d.currency, d.due_at from disputes d
      join payments p on p.merchant_id = ${merchant_id} and p.tx_reference = d.tx_reference
    where d.merchant_id = ${merchant_id} and d.state = 'open' and p.mode = ${mode}
    order by d.due_at nulls last, d.opened_at limit ${limit}`)

export type WaitingEndpoint = { url: string; waiting: number; since: Date; last_status: number | null }

// Notifications that an endpoint did not acknowledge and that are sent again: those that are parked, and those of the newest
// payments.
export const waitingEndpoints = (tx: Tx, { merchant_id, mode }: OverviewScope, limit: number) =>
  tx.rows<WaitingEndpoint>(sql`
    select max(url) as url, count(*)::integer as waiting, min(begun_at) as since,
      (array_agg(last_status order by last_try_at desc nulls last))[1] as last_status
    from (
      (select tx_reference, sequence, lane, url, begun_at, last_status, last_try_at from deliveries
        where merchant_id = ${merchant_id} and parked and mode = ${mode} limit ${limit})
      union
      (select tx_reference, sequence, lane, url, begun_at, last_status, last_try_at from (
          select * from deliveries where merchant_id = ${merchant_id} order by tx_reference desc limit ${limit}) as newest
        where mode = ${mode} and retry and acknowledged_at is null and next_try_at is not null)) as waiting
    group by lane order by waiting desc limit 5`)

// Notifications that were given up, by the address they were sent to.
export const exhaustedSince = (tx: Tx, { merchant_id, mode }: OverviewScope, since: Date, limit: number) =>
  tx.rows<WaitingEndpoint>(sql`
    select max(url) as url, count(*)::integer as waiting, min(exhausted_at) as since,
      (array_agg(last_status order by exhausted_at desc))[1] as last_status
    from (select * from deliveries where merchant_id = ${merchant_id} and exhausted_at >= ${since} and mode = ${mode}
      and acknowledged_at is null limit ${limit}) as exhausted
    group by lane order by waiting desc limit 5`)

export type EndingSecret = { kind: 'key' | 'ipn_secret'; expires_at: Date }

// Keys and secrets that were replaced and end within a time.
export const endingSecrets = (tx: Tx, { merchant_id, mode }: OverviewScope, now: Date, until: Date) =>
  tx.rows<EndingSecret>(sql`
    select 'key' as kind, expires_at from merchant_keys
    where merchant_id = ${merchant_id} and mode = ${mode} and expires_at > ${now} and expires_at < ${until}
    union all
    select 'ipn_secret', expires_at from ipn_secrets
    where merchant_id = ${merchant_id} and mode = ${mode} and expires_at > ${now} and expires_at < ${until}
    order by expires_at limit 4`)

// How many refunds of a merchant need a person, up to a limit.
export const countRefundsToAct = async (tx: Tx, { merchant_id, mode }: OverviewScope, limit: number) =>
  (
    await tx.one<{ refunds: number }>(sql`
      select count(*)::integer as refunds from (
        select 1 from refunds where merchant_id = ${merchant_id} and mode = ${mode} and state = 'needs_action'
        limit ${limit}) as to_act`)
  )?.refunds ?? 0
