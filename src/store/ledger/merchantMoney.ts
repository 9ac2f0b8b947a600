import type { Mode } from '../../core/mode.ts'
import type { LedgerAccount, Transfer } from '../../core/ledger/transfer.ts'
import { sql, type Tx } from '../db.ts'

// The transfers of the account `merchant`: what is owed to one merchant, in one mode.

export type MoneyScope = { merchant_id: string; mode: Mode }
export type MoneyPeriod = { from: Date; until: Date } // by the time of booking; the end is not included

const account: LedgerAccount = 'merchant'
export const isItsAccount = sql`(debit_account = ${account} or credit_account = ${account})`
export const moved = sql`case when credit_account = ${account} then amount else -amount end`

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
