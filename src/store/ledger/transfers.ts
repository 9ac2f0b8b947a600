import type { NewTransfer } from '../../core/ledger/book.ts'
import type { Transfer } from '../../core/ledger/transfer.ts'
import type { Mode } from '../../core/mode.ts'
import { named, sql, type Tx } from '../db.ts'
import type { PaymentKey } from '../payments/paymentKeys.ts'
import { statementPart } from '../groupStatement.ts'

// The time is the database's: a process that was paused must not write a row into an hour that is sealed. A cause that is
// booked already violates the table's key.
export const bookTransfers = (all: readonly NewTransfer[]) => statementPart('booked')`
  insert into transfers (merchant_id, transfer_id, mode, currency, debit_account, credit_account, amount, kind,
    tx_reference, attempt_id, refund_reference, reason, happened_at, created_at)
  select t.*, clock_timestamp() from unnest(${all.map(t => t.merchant_id)}::text[], ${all.map(t => t.transfer_id)}::text[],
    ${all.map(t => t.mode)}::text[], ${all.map(t => t.currency)}::text[], ${all.map(t => t.debit_account)}::text[],
    ${all.map(t => t.credit_account)}::text[], ${all.map(t => t.amount)}::bigint[], ${all.map(t => t.kind)}::text[],
    ${all.map(t => t.tx_reference)}::text[], ${all.map(t => t.attempt_id)}::text[],
    ${all.map(t => t.refund_reference)}::text[], ${all.map(t => t.reason)}::text[],
    ${all.map(t => t.happened_at)}::timestamptz[]) as t`

export const bookedIds = async (tx: Tx, { merchant_id, tx_reference }: PaymentKey) =>
  (
    await tx.rows<{ transfer_id: string }>(named('booked_ids')`
      select transfer_id from transfers where merchant_id = ${merchant_id} and ${isOfPayment(tx_reference)}`)
  ).map(({ transfer_id }) => transfer_id)

// A range of the primary key.
const isOfPayment = (tx_reference: string) =>
  sql`transfer_id >= ${`${tx_reference}/`} and transfer_id < ${`${tx_reference}0`}`

// In the order of their booking.
export const transfersOfPayment = (tx: Tx, { merchant_id, tx_reference }: PaymentKey) =>
  tx.rows<Transfer>(sql`
    select * from transfers where merchant_id = ${merchant_id} and ${isOfPayment(tx_reference)}
    order by created_at, transfer_id`)

// The operator's fee that was booked for the charge which paid the payment.
export async function bookedGatewayFee(
  tx: Tx,
  merchant_id: string,
  attempt_id: string,
  tx_reference: string,
) {
  const row = await tx.one<{ fee: bigint | null }>(named('booked_gateway_fee')`
    select sum(amount)::bigint as fee from transfers
    where merchant_id = ${merchant_id} and ${isOfPayment(tx_reference)} and attempt_id = ${attempt_id} and kind = 'gateway_fee'`)
  return row?.fee ?? 0n
}

export type StatementFilter = {
  merchant_id: string
  mode: Mode
  from: Date
  until: Date // not included
  currency?: string
  account?: string
}

// When the first transfer of a period was written.
export const nextTransferAt = async (tx: Tx, merchant_id: string, from: Date | null, until: Date) =>
  (
    await tx.one<{ created_at: Date }>(sql`
      select created_at from transfers where merchant_id = ${merchant_id} and created_at < ${until}
        ${from ? sql`and created_at >= ${from}` : sql``} order by created_at limit 1`)
  )?.created_at

// The transfers of a period in the order of their booking.
export const transfersBetween = (tx: Tx, f: StatementFilter, limit: number) =>
  tx.rows<Transfer>(sql`
    select * from transfers
    where merchant_id = ${f.merchant_id} and mode = ${f.mode} and created_at >= ${f.from} and created_at < ${f.until}
      ${f.currency ? sql`and currency = ${f.currency}` : sql``}
      ${f.account ? sql`and (debit_account = ${f.account} or credit_account = ${f.account})` : sql``}
    order by created_at, transfer_id limit ${limit}`)
