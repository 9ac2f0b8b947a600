import type { Mode } from '../../core/mode.ts'
import type { LedgerAccount, Transfer } from '../../core/ledger/transfer.ts'
import { sql, type Tx } from '../db.ts'

// The transfers of the account `merchant`: what is owed to one merchant, in one mode.

export type MoneyScope = { merchant_id: string; mode: Mode }
type MoneyPeriod = { from: Date; until: Date } // by the time of booking; the end is not included

const account: LedgerAccount = 'merchant'
const isItsAccount = sql`(debit_account = ${account} or credit_account = ${account})`
const moved = sql`case when credit_account = ${account} then amount else -amount end`

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

// By outlet and payment method.
export const closingRows = (tx: Tx, { merchant_id, mode }: MoneyScope, { from, until }: MoneyPeriod) =>
  tx.rows<ClosingRow>(sql`
    select p.outlet, p.payment_method, t.currency,
      (count(*) filter (where t.kind = 'charge'))::integer as payments,
      coalesce(sum(t.moved) filter (where t.kind = 'charge'), 0)::bigint as gross,
      coalesce(sum(t.moved) filter (where t.kind in ('merchant_fee', 'gateway_fee', 'gateway_fee_returned')), 0)::bigint
        as fees,
      coalesce(sum(t.moved) filter (where t.kind in ('refund_requested', 'refund_succeeded', 'refund_failed')), 0)::bigint
        as refunds,
      coalesce(sum(t.moved) filter (where t.kind in ('reversal', 'dispute_opened', 'dispute_won', 'dispute_lost')), 0)
        ::bigint as disputes,
      coalesce(sum(t.moved) filter (where t.kind in ('own_account', 'transfer_back', 'unmatched_charge', 'customer_fee',
        'provider_fee')), 0)::bigint as other,
      sum(t.moved)::bigint as net
    from (
      select tx_reference, kind, currency, ${moved} as moved from transfers
      where merchant_id = ${merchant_id} and mode = ${mode} and created_at >= ${from} and created_at < ${until}
        and ${isItsAccount}) as t
      left join payments p on p.merchant_id = ${merchant_id} and p.tx_reference = t.tx_reference
    group by p.outlet, p.payment_method, t.currency
    order by p.outlet nulls last, p.payment_method nulls last, t.currency`)

export type MoneyLine = Pick<
  Transfer,
  'transfer_id' | 'kind' | 'currency' | 'tx_reference' | 'refund_reference' | 'reason' | 'created_at'
> & { invoice_id: string | null; outlet: string | null; moved: bigint }

// The time is compared in the database: it has microseconds.
const isAfter = (merchant_id: string, after: string | undefined) =>
  after === undefined
    ? sql``
    : sql`and (t.created_at, t.transfer_id) > (
        select created_at, transfer_id from transfers where merchant_id = ${merchant_id} and transfer_id = ${after})`

// The lines of a statement in the order of their booking, behind one of them.
export const moneyLines = (
  tx: Tx,
  { merchant_id, mode }: MoneyScope,
  { from, until }: MoneyPeriod,
  after: string | undefined,
  limit: number,
) =>
  tx.rows<MoneyLine>(sql`
    select l.*, p.invoice_id, p.outlet from (
      select t.transfer_id, t.kind, t.currency, t.tx_reference, t.refund_reference, t.reason, t.created_at,
        ${moved} as moved
      from transfers t
      where t.merchant_id = ${merchant_id} and t.mode = ${mode} and t.created_at >= ${from} and t.created_at < ${until}
        and ${isItsAccount} ${isAfter(merchant_id, after)}
      order by t.created_at, t.transfer_id limit ${limit}) as l
      left join payments p on p.merchant_id = ${merchant_id} and p.tx_reference = l.tx_reference
    order by l.created_at, l.transfer_id`)

// When a transfer was booked.
export const bookedAt = async (tx: Tx, merchant_id: string, transfer_id: string) =>
  (
    await tx.one<{ created_at: Date }>(sql`
      select created_at from transfers where merchant_id = ${merchant_id} and transfer_id = ${transfer_id}`)
  )?.created_at

type Moved = { currency: string; moved: bigint }

// What the transfers from a moment until one of them, which is included, added to the balance.
export const movedUntil = (tx: Tx, { merchant_id, mode }: MoneyScope, from: Date, last: string) =>
  tx.rows<Moved>(sql`
    select currency, sum(${moved})::bigint as moved from transfers
    where merchant_id = ${merchant_id} and mode = ${mode} and created_at >= ${from} and ${isItsAccount}
      and (created_at, transfer_id) <= (
        select created_at, transfer_id from transfers where merchant_id = ${merchant_id} and transfer_id = ${last})
    group by currency`)
