import type { Mode } from '../../core/mode.ts'
import type { Currency } from '../../core/money.ts'
import type { Status } from '../../core/payment/payment.ts'
import type { UntrustedUrl } from '../../core/urlTrust.ts'
import { sql, type Tx } from '../db.ts'

type ReportFilter = {
  merchant_id: string
  mode: Mode
  outlet?: string
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

// The references limit the part of the merchant's key range that is read; the times decide what counts.
export const reportByOutlet = (tx: Tx, f: ReportFilter) =>
  tx.rows<ReportRow>(sql`
    select p.outlet, o.name as outlet_name, p.status, p.payment_method, p.currency, p.payments, p.total
    from (
      select outlet, status, payment_method, currency, count(*) as payments, sum(total)::bigint as total
      from payments
      where merchant_id = ${f.merchant_id} and mode = ${f.mode}
        and tx_reference >= ${f.firstReference} and tx_reference < ${f.endReference}
        and created_at >= ${f.from} and created_at < ${f.until}
        and (${f.outlet ?? null}::text is null or outlet = ${f.outlet ?? null})
      group by outlet, status, payment_method, currency) as p
    left join outlets o on o.merchant_id = ${f.merchant_id} and o.code = p.outlet
    order by p.outlet nulls last, p.status, p.payment_method nulls last, p.currency`)

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
