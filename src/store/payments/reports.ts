import { join } from 'sql-template-tag'
import type { Mode } from '../../core/mode.ts'
import type { Currency } from '../../core/money.ts'
import type { Status } from '../../core/payment/payment.ts'
import type { UntrustedUrl } from '../../core/urlTrust.ts'
import { type Db, sql, type Tx } from '../db.ts'
import { statementPart } from '../groupStatement.ts'

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

export type SummedPeriod = { from_at: Date; until_at: Date } // the end is not included

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

// One row of a report that is divided at moments: `slot` 1 begins at the first of them.
export type SlotRow = Omit<ReportRow, 'outlet_name'> & { slot: number }

// The sums between moments. No stored period may contain one of them.
export const reportBySlot = (
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
  return tx.rows<SlotRow>(sql`
    select slot, ${columns}, sum(payments)::bigint as payments, sum(total)::bigint as total
    from (${join(parts, ' union all ')}) as parts group by slot, ${columns}`)
}

// A report must not count a payment in two parts.
export const inOneSnapshot = <T>(db: Db, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.transaction(async tx => {
    await tx.rows(sql`set transaction isolation level repeatable read`)
    return work(tx)
  })

// The summed periods within another one whose sums are right, by their beginning, a longer one first.
export const summedPeriods = (tx: Tx, { merchant_id, mode }: ReportScope, from: Date, until: Date) =>
  tx.rows<SummedPeriod>(sql`
    select d.from_at, d.until_at from report_periods d
    where d.merchant_id = ${merchant_id} and d.mode = ${mode} and d.from_at >= ${from} and d.until_at <= ${until}
      and not exists (select from late_changes c where c.merchant_id = ${merchant_id} and c.mode = ${mode}
        and c.created_at >= d.from_at and c.created_at < d.until_at)
    order by d.from_at, d.until_at desc`)

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

export async function storeSums(
  tx: Tx,
  { merchant_id, mode }: ReportScope,
  { from_at, until_at }: SummedPeriod,
  rows: readonly ReportRow[],
) {
  await tx.rows(sql`
    insert into report_periods (merchant_id, mode, from_at, until_at)
    values (${merchant_id}, ${mode}, ${from_at}, ${until_at})
    on conflict (merchant_id, mode, from_at, until_at) do nothing`)
  await tx.rows(sql`
    delete from report_totals where merchant_id = ${merchant_id} and mode = ${mode}
      and from_at = ${from_at} and until_at = ${until_at}`)
  await tx.rows(sql`
    insert into report_totals
      (merchant_id, mode, from_at, until_at, line, outlet, status, payment_method, currency, payments, total)
    select ${merchant_id}, ${mode}, ${from_at}, ${until_at}, r.* from unnest(${rows.map((_, at) => at)}::integer[],
      ${rows.map(r => r.outlet)}::text[], ${rows.map(r => r.status)}::text[],
      ${rows.map(r => r.payment_method)}::text[], ${rows.map(r => r.currency)}::text[],
      ${rows.map(r => r.payments)}::bigint[], ${rows.map(r => r.total)}::bigint[]) as r`)
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
  tx.rows<SummedPeriod>(sql`
    select distinct d.from_at, d.until_at from report_periods d
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
export const countPayers = (tx: Tx, sinceReference: string, atLeast: number, limit: number) =>
  tx.rows<PayerCounts>(sql`
    select m.merchant_id, m.name, recent.tries, recent.payers
    from merchants m cross join lateral (
      select count(*)::integer as tries, count(distinct payer)::integer as payers
      from (select a.payer from attempts a
        where a.merchant_id = m.merchant_id and a.tx_reference >= ${sinceReference}
          and a.payer is not null and a.lang is not null limit ${limit}) as tried) as recent
    where recent.tries >= ${atLeast}`)

type RecentIpnUrl = { merchant_id: string; ipn_url: UntrustedUrl }

// The different ipn_urls of live payments since that reference, of each merchant's latest payments.
export const recentIpnUrls = (tx: Tx, sinceReference: string, limit: number) =>
  tx.rows<RecentIpnUrl>(sql`
    select distinct m.merchant_id, recent.ipn_url
    from merchants m cross join lateral (
      select p.mode, p.ipn_url from payments p
      where p.merchant_id = m.merchant_id and p.tx_reference >= ${sinceReference}
      order by p.tx_reference desc limit ${limit}) as recent
    where m.active and recent.mode = 'live' and recent.ipn_url is not null
    order by m.merchant_id, recent.ipn_url`)
