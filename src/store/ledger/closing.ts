import { join } from 'sql-template-tag'
import type { SummedPeriod } from '../../core/summedPeriods.ts'
import { sql, type Tx } from '../db.ts'
import { isItsAccount, type MoneyPeriod, type MoneyScope, moved } from './merchantMoney.ts'

// A row of a closing. The sums are what the transfers added to the balance, so that they add up to `net`.
export type ClosingRow = {
  outlet: string | null
  payment_method: string | null
  currency: string
  payments: number
  gross: bigint
  fees: bigint
  refunds: bigint
  disputes: bigint // and reversals
  other: bigint // corrections, and charges that the provider paid to the merchant's own account
  net: bigint
}

// What a closing reads: stored sums, and the transfers of the rest.
export type ClosingParts = { summed: readonly SummedPeriod[]; gaps: readonly MoneyPeriod[] }

const names = sql`outlet, payment_method, currency`
const sums = sql`transfers, payments, gross, fees, refunds, disputes, other, net`

const sumOf = (...kinds: string[]) => sql`coalesce(sum(t.moved) filter (where t.kind = any(${kinds})), 0)`

const transferSums = ({ merchant_id, mode }: MoneyScope, { from, until }: MoneyPeriod) => sql`
  select p.outlet, p.payment_method, t.currency, count(*) as transfers,
    count(*) filter (where t.kind = 'charge') as payments,
    ${sumOf('charge')} as gross,
    ${sumOf('merchant_fee', 'gateway_fee', 'gateway_fee_returned')} as fees,
    ${sumOf('refund_requested', 'refund_succeeded', 'refund_failed')} as refunds,
    ${sumOf('reversal', 'dispute_opened', 'dispute_won', 'dispute_lost')} as disputes,
    ${sumOf('own_account', 'transfer_back', 'unmatched_charge', 'customer_fee', 'provider_fee')} as other,
    sum(t.moved) as net
  from (
    select tx_reference, kind, currency, ${moved} as moved from transfers
    where merchant_id = ${merchant_id} and mode = ${mode} and created_at >= ${from} and created_at < ${until}
      and ${isItsAccount}) as t
    left join payments p on p.merchant_id = ${merchant_id} and p.tx_reference = t.tx_reference
  group by p.outlet, p.payment_method, t.currency`

const storedSums = ({ merchant_id, mode }: MoneyScope, summed: readonly SummedPeriod[]) => sql`
  select ${names}, ${sums} from closing_totals join unnest(${summed.map(p => p.from_at)}::timestamptz[],
    ${summed.map(p => p.until_at)}::timestamptz[]) as s (from_at, until_at) using (from_at, until_at)
  where merchant_id = ${merchant_id} and mode = ${mode}`

// By outlet and payment method.
export const closingRows = (tx: Tx, scope: MoneyScope, { summed, gaps }: ClosingParts) =>
  tx.rows<ClosingRow & { transfers: bigint }>(sql`
    select ${names}, sum(transfers)::bigint as transfers, sum(payments)::integer as payments, sum(gross)::bigint as gross,
      sum(fees)::bigint as fees, sum(refunds)::bigint as refunds, sum(disputes)::bigint as disputes,
      sum(other)::bigint as other, sum(net)::bigint as net
    from (${join([storedSums(scope, summed), ...gaps.map(gap => transferSums(scope, gap))], ' union all ')}) as parts
    group by ${names}
    order by outlet nulls last, payment_method nulls last, currency`)

// The summed periods within another one, by their beginning, a longer one first.
export const summedClosings = (tx: Tx, { merchant_id, mode }: MoneyScope, { from, until }: MoneyPeriod) =>
  tx.rows<SummedPeriod>(sql`
    select distinct from_at, until_at from closing_totals
    where merchant_id = ${merchant_id} and mode = ${mode} and from_at >= ${from} and until_at <= ${until}
    order by from_at, until_at desc`)

// Nodes do not sum the same period twice.
export async function lockClosingProgress(tx: Tx, { merchant_id, mode }: MoneyScope, oldest: Date) {
  await tx.rows(sql`
    insert into closing_progress (merchant_id, mode, summed_until) values (${merchant_id}, ${mode}, ${oldest})
    on conflict (merchant_id, mode) do nothing`)
  const row = await tx.one<{ summed_until: Date }>(sql`
    select summed_until from closing_progress where merchant_id = ${merchant_id} and mode = ${mode} for update`)
  return row?.summed_until ?? oldest
}

export const saveClosingProgress = (tx: Tx, { merchant_id, mode }: MoneyScope, until: Date) =>
  tx.rows(sql`
    update closing_progress set summed_until = ${until} where merchant_id = ${merchant_id} and mode = ${mode}`)

export const storeClosing = (
  tx: Tx,
  { merchant_id, mode }: MoneyScope,
  { from_at, until_at }: SummedPeriod,
  rows: readonly (ClosingRow & { transfers: bigint })[],
) =>
  tx.rows(sql`
    insert into closing_totals (merchant_id, mode, from_at, until_at, line, ${names}, ${sums})
    select ${merchant_id}, ${mode}, ${from_at}, ${until_at}, r.* from unnest(${rows.map((_, at) => at)}::integer[],
      ${rows.map(r => r.outlet)}::text[], ${rows.map(r => r.payment_method)}::text[],
      ${rows.map(r => r.currency)}::text[], ${rows.map(r => r.transfers)}::bigint[],
      ${rows.map(r => r.payments)}::bigint[], ${rows.map(r => r.gross)}::bigint[], ${rows.map(r => r.fees)}::bigint[],
      ${rows.map(r => r.refunds)}::bigint[], ${rows.map(r => r.disputes)}::bigint[],
      ${rows.map(r => r.other)}::bigint[], ${rows.map(r => r.net)}::bigint[]) as r
    on conflict (merchant_id, mode, from_at, until_at, line) do nothing`)

// The sums within a day that is summed itself.
export const removeClosingHours = (tx: Tx, { merchant_id, mode }: MoneyScope, day: SummedPeriod) =>
  tx.rows(sql`
    delete from closing_totals where merchant_id = ${merchant_id} and mode = ${mode} and from_at >= ${day.from_at}
      and until_at <= ${day.until_at}
      and (from_at, until_at) <> (${day.from_at}::timestamptz, ${day.until_at}::timestamptz)`)
