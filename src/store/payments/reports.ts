import { join } from 'sql-template-tag'
import type { Mode } from '../../core/mode.ts'
import type { Currency } from '../../core/money.ts'
import type { Status } from '../../core/payment/payment.ts'
import { firstReferenceAt } from '../../core/payment/reference.ts'
import type { CountedRow } from '../../core/overview/figures.ts'
import type { SummedPeriod } from '../../core/summedPeriods.ts'
import type { UntrustedUrl } from '../../core/urlTrust.ts'
import { type Db, sql, type Tx } from '../db.ts'
import { statementPart } from '../groupStatement.ts'
import { withShardedVariant } from '../shardedVariant.ts'

export type ReportScope = { merchant_id: string; mode: Mode; outlet?: string }
export type ReportPeriod = {
  from: Date
  until: Date // not included
  firstReference: string
  endReference: string // not included
}

export type ReportRow = {
  outlet: string | null
  outlet_name: string | null
  status: Status
  payment_method: string | null
  currency: Currency
  payments: bigint
  total: bigint // minor units
}

// Stored sums, and parts of the period that are read from the payments.
export type ReportParts = { summed: readonly SummedPeriod[]; gaps: readonly ReportPeriod[] }

// The references limit the part of the merchant's key range that is read; the times decide what counts.
const paymentSums = (f: ReportScope, { from, until, firstReference, endReference }: ReportPeriod) => sql`
  select outlet, status, payment_method, currency, count(*) as payments, sum(total) as total
  from payments
  where merchant_id = ${f.merchant_id} and mode = ${f.mode}
    and tx_reference >= ${firstReference} and tx_reference < ${endReference}
    and created_at >= ${from} and created_at < ${until}
    and (${f.outlet ?? null}::text is null or outlet = ${f.outlet ?? null})
  group by outlet, status, payment_method, currency`

const storedSums = (f: ReportScope, summed: readonly SummedPeriod[]) => sql`
  select t.outlet, t.status, t.payment_method, t.currency, t.payments, t.total
  from report_totals t join unnest(${summed.map(p => p.from_at)}::timestamptz[],
    ${summed.map(p => p.until_at)}::timestamptz[]) as s (from_at, until_at) using (from_at, until_at)
  where t.merchant_id = ${f.merchant_id} and t.mode = ${f.mode}
    and (${f.outlet ?? null}::text is null or outlet = ${f.outlet ?? null})`

export const reportByOutlet = (tx: Tx, f: ReportScope, { summed, gaps }: ReportParts) =>
  tx.rows<ReportRow>(sql`
    select p.outlet, o.name as outlet_name, p.status, p.payment_method, p.currency, p.payments, p.total
    from (
      select outlet, status, payment_method, currency, sum(payments)::bigint as payments, sum(total)::bigint as total
      from (${join([storedSums(f, summed), ...gaps.map(gap => paymentSums(f, gap))], ' union all ')}) as parts
      group by outlet, status, payment_method, currency) as p
    left join outlets o on o.merchant_id = ${f.merchant_id} and o.code = p.outlet
    order by p.outlet nulls last, p.status, p.payment_method nulls last, p.currency`)

// The sums of the slots between moments, of outlets and of payment methods: all their combinations would be thousands of rows.
// No stored period may contain one of the moments. The most frequent come first.
export const reportByParts = (
  tx: Tx,
  f: ReportScope,
  { summed, gaps }: ReportParts,
  moments: readonly Date[],
) => {
  const columns = sql`outlet, status, payment_method, currency`
  const isInScope = sql`merchant_id = ${f.merchant_id} and mode = ${f.mode}`
  const parts = [
    sql`
      select width_bucket(from_at, ${moments}::timestamptz[]) as slot, ${columns}, payments, total
      from report_totals join unnest(${summed.map(p => p.from_at)}::timestamptz[],
        ${summed.map(p => p.until_at)}::timestamptz[]) as s (from_at, until_at) using (from_at, until_at)
      where ${isInScope}`,
    ...gaps.map(
      ({ from, until, firstReference, endReference }) => sql`
      select width_bucket(created_at, ${moments}::timestamptz[]), ${columns}, count(*), sum(total)
      from payments
      where ${isInScope} and tx_reference >= ${firstReference} and tx_reference < ${endReference}
        and created_at >= ${from} and created_at < ${until}
      group by 1, ${columns}`,
    ),
  ]
  return tx.rows<CountedRow>(sql`
    select case grouping(slot, outlet, payment_method) when 3 then 'slot' when 5 then 'outlet' else 'method' end as by,
      slot, coalesce(outlet, payment_method) as name, status, currency,
      sum(payments)::bigint as payments, sum(total)::bigint as total
    from (${join(parts, ' union all ')}) as parts
    group by grouping sets ((slot, status, currency), (outlet, status, currency), (payment_method, status, currency))
    order by payments desc, currency, slot`)
}

// A report must not count a payment in two parts.
export const inOneSnapshot = <T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.transaction(async tx => {
    await tx.rows(sql`set transaction isolation level repeatable read`)
    return work(tx)
  })

// `isRight`: no payment of the period has changed since. `last_reference`: of its payments; null if it is not known.
export type StoredPeriod = SummedPeriod & { last_reference: string | null; isRight: boolean }

// The summed periods that overlap another one, by their beginning, a longer one first.
export const storedPeriods = (tx: Tx, { merchant_id, mode }: ReportScope, from: Date, until: Date) =>
  tx.rows<StoredPeriod>(sql`
    select d.from_at, d.until_at, d.last_reference, not exists (
      select from late_changes c where c.merchant_id = ${merchant_id} and c.mode = ${mode}
        and c.created_at >= d.from_at and c.created_at < d.until_at) as "isRight"
    from report_periods d
    where d.merchant_id = ${merchant_id} and d.mode = ${mode} and d.from_at < ${until} and d.until_at > ${from}
      and d.from_at > ${from}::timestamptz - interval '26 hours' -- no period is longer than a day
    order by d.from_at, d.until_at desc`)

export const isSummed = async (
  tx: Tx,
  { merchant_id, mode }: ReportScope,
  { from_at, until_at }: SummedPeriod,
) =>
  (await tx.count(sql`
    select from report_periods
    where merchant_id = ${merchant_id} and mode = ${mode} and from_at = ${from_at} and until_at = ${until_at}`)) >
  0

// Nodes do not sum the same period twice. Undefined: the merchant has no payments.
export async function lockProgress(tx: Tx, { merchant_id, mode }: ReportScope, oldest: Date) {
  await tx.rows(sql`
    insert into report_progress (merchant_id, mode, summed_until)
    select merchant_id, ${mode}, greatest(created_at, ${oldest}) from (
      select merchant_id, created_at from payments
      where merchant_id = ${merchant_id} order by tx_reference limit 1) as first
    on conflict (merchant_id, mode) do nothing`)
  const row = await tx.one<{ summed_until: Date }>(sql`
    select summed_until from report_progress where merchant_id = ${merchant_id} and mode = ${mode} for update`)
  return row?.summed_until
}

export const saveProgress = (tx: Tx, { merchant_id, mode }: ReportScope, until: Date) =>
  tx.rows(sql`
    update report_progress set summed_until = ${until} where merchant_id = ${merchant_id} and mode = ${mode}`)

// The sums of a period (`slot` is null) and of its parts, which begin at moments, with the last reference of each row.
export type SumRow = Omit<ReportRow, 'outlet_name'> & { slot: number | null; last_reference: string }

export const sumPeriod = (
  tx: Tx,
  { merchant_id, mode }: ReportScope,
  { from, until, firstReference, endReference }: ReportPeriod,
  moments: readonly Date[],
) => {
  const columns = sql`outlet, status, payment_method, currency`
  return tx.rows<SumRow>(sql`
    select slot, ${columns}, count(*) as payments, sum(total)::bigint as total, max(tx_reference) as last_reference
    from (
      select width_bucket(created_at, ${moments}::timestamptz[]) as slot, ${columns}, total, tx_reference from payments
      where merchant_id = ${merchant_id} and mode = ${mode} and tx_reference >= ${firstReference}
        and tx_reference < ${endReference} and created_at >= ${from} and created_at < ${until}) as read
    group by grouping sets ((slot, ${columns}), (${columns}))`)
}

export type PeriodSums = { period: SummedPeriod; rows: readonly SumRow[] }

// Instead of those that are stored.
export async function storeSums(tx: Tx, { merchant_id, mode }: ReportScope, sums: readonly PeriodSums[]) {
  const periods = sums.map(({ period, rows }) => ({
    ...period,
    last_reference: rows.reduce(
      (last, row) => (row.last_reference > last ? row.last_reference : last),
      firstReferenceAt(period.from_at),
    ),
  }))
  const [from, until] = [periods.map(p => p.from_at), periods.map(p => p.until_at)]
  await tx.rows(sql`
    insert into report_periods (merchant_id, mode, from_at, until_at, last_reference)
    select ${merchant_id}, ${mode}, p.* from unnest(${from}::timestamptz[], ${until}::timestamptz[],
      ${periods.map(p => p.last_reference)}::text[]) as p
    on conflict (merchant_id, mode, from_at, until_at) do update set last_reference = excluded.last_reference`)
  await tx.rows(sql`
    delete from report_totals using unnest(${from}::timestamptz[], ${until}::timestamptz[]) as p (from_at, until_at)
    where merchant_id = ${merchant_id} and mode = ${mode}
      and report_totals.from_at = p.from_at and report_totals.until_at = p.until_at`)
  const lines = sums.flatMap(({ period, rows }) => rows.map((row, line) => ({ ...period, ...row, line })))
  await tx.rows(sql`
    insert into report_totals
      (merchant_id, mode, from_at, until_at, line, outlet, status, payment_method, currency, payments, total)
    select ${merchant_id}, ${mode}, r.* from unnest(${lines.map(r => r.from_at)}::timestamptz[],
      ${lines.map(r => r.until_at)}::timestamptz[], ${lines.map(r => r.line)}::integer[],
      ${lines.map(r => r.outlet)}::text[], ${lines.map(r => r.status)}::text[],
      ${lines.map(r => r.payment_method)}::text[], ${lines.map(r => r.currency)}::text[],
      ${lines.map(r => r.payments)}::bigint[], ${lines.map(r => r.total)}::bigint[]) as r`)
}

// The sums within a day that is summed itself.
export async function removeHours(
  tx: Tx,
  { merchant_id, mode }: ReportScope,
  { from_at, until_at }: SummedPeriod,
) {
  const isWithin = sql`merchant_id = ${merchant_id} and mode = ${mode} and from_at >= ${from_at}
    and until_at <= ${until_at} and (from_at, until_at) <> (${from_at}::timestamptz, ${until_at}::timestamptz)`
  await tx.rows(sql`delete from report_totals where ${isWithin}`)
  await tx.rows(sql`delete from report_periods where ${isWithin}`)
}

// Late changes of payments that are summed already.
export const lateChangesBefore = (tx: Tx, { merchant_id, mode }: ReportScope, until: Date, limit: number) =>
  tx.rows<LateChange>(sql`
    select * from late_changes where merchant_id = ${merchant_id} and mode = ${mode} and created_at < ${until}
    limit ${limit}`)

export const periodsWith = (tx: Tx, { merchant_id, mode }: ReportScope, moments: readonly Date[]) =>
  tx.rows<SummedPeriod & { last_reference: string | null }>(sql`
    select distinct d.from_at, d.until_at, d.last_reference from report_periods d
      join unnest(${moments}::timestamptz[]) as m (at) on m.at >= d.from_at and m.at < d.until_at
    where d.merchant_id = ${merchant_id} and d.mode = ${mode}`)

export const forgetLateChanges = (tx: Tx, merchant_id: string, all: readonly LateChange[]) =>
  tx.rows(sql`
    delete from late_changes c using unnest(${all.map(c => c.tx_reference)}::text[],
      ${all.map(c => c.changed_at)}::timestamptz[]) as k (tx_reference, changed_at)
    where c.merchant_id = ${merchant_id} and c.tx_reference = k.tx_reference and c.changed_at = k.changed_at`)

export type LateChange = {
  merchant_id: string
  tx_reference: string
  mode: Mode
  created_at: Date
  changed_at: Date
}

export const addLateChanges = (all: readonly LateChange[]) => statementPart('late')`
  insert into late_changes (merchant_id, tx_reference, changed_at, mode, created_at)
  select * from unnest(${all.map(c => c.merchant_id)}::text[], ${all.map(c => c.tx_reference)}::text[],
    ${all.map(c => c.changed_at)}::timestamptz[], ${all.map(c => c.mode)}::text[],
    ${all.map(c => c.created_at)}::timestamptz[])
  on conflict (merchant_id, tx_reference, changed_at) do nothing`

type PayerCounts = { merchant_id: string; name: string; tries: number; payers: number }

// How many attempts customers made on the pages of each merchant, and from how many addresses, for payments since that
// reference. Only merchants with at least `atLeast` attempts; each is counted up to the limit.
export const countPayers = (db: Db, sinceReference: string, atLeast: number, limit: number) =>
  withShardedVariant(
    () =>
      db.rows<PayerCounts>(sql`
        select m.merchant_id, m.name, recent.tries, recent.payers
        from merchants m cross join lateral (
          select count(*)::integer as tries, count(distinct payer)::integer as payers
          from (select a.payer from attempts a
            where a.merchant_id = m.merchant_id and a.tx_reference >= ${sinceReference}
              and a.payer is not null and a.lang is not null limit ${limit}) as tried) as recent
        where recent.tries >= ${atLeast}`),
    () =>
      db.rows<PayerCounts>(sql`
        select m.merchant_id, m.name, recent.tries, recent.payers
        from merchants m join (
          select tried.merchant_id, count(*)::integer as tries, count(distinct tried.payer)::integer as payers
          from (select a.merchant_id, a.payer, row_number() over (partition by a.merchant_id) as place
            from attempts a
            where a.tx_reference >= ${sinceReference} and a.payer is not null and a.lang is not null) as tried
          where tried.place <= ${limit} group by tried.merchant_id) as recent on recent.merchant_id = m.merchant_id
        where recent.tries >= ${atLeast}`),
  )

type RecentIpnUrl = { merchant_id: string; ipn_url: UntrustedUrl }

// The different ipn_urls of live payments since that reference, of each merchant's latest payments.
export const recentIpnUrls = (db: Db, sinceReference: string, limit: number) =>
  withShardedVariant(
    () =>
      db.rows<RecentIpnUrl>(sql`
        select distinct m.merchant_id, recent.ipn_url
        from merchants m cross join lateral (
          select p.mode, p.ipn_url from payments p
          where p.merchant_id = m.merchant_id and p.tx_reference >= ${sinceReference}
          order by p.tx_reference desc limit ${limit}) as recent
        where m.active and recent.mode = 'live' and recent.ipn_url is not null
        order by m.merchant_id, recent.ipn_url`),
    () =>
      db.rows<RecentIpnUrl>(sql`
        select distinct m.merchant_id, recent.ipn_url
        from merchants m join (
          select p.merchant_id, p.mode, p.ipn_url,
            row_number() over (partition by p.merchant_id order by p.tx_reference desc) as place
          from payments p where p.tx_reference >= ${sinceReference}) as recent on recent.merchant_id = m.merchant_id
        where m.active and recent.place <= ${limit} and recent.mode = 'live' and recent.ipn_url is not null
        order by m.merchant_id, recent.ipn_url`),
  )
