import { join } from 'sql-template-tag'
import type { Mode } from '../../core/mode.ts'
import type { PagePlace } from '../../core/payment/listFilter.ts'
import type { Payment, Status } from '../../core/payment/payment.ts'
import { type Query, sql, type Tx } from '../db.ts'

// The lists of one merchant's payments, newest first. References sort by time, so a list reads the merchant's range of the
// primary key from one end. A condition may match few payments, so at most `most` rows are read for one page.

// What the search is about. Of several readings of a text, any may match.
export type SoughtPayments = {
  references: readonly string[] // found by an index
  invoicePrefix?: string
  phones?: readonly string[]
  email?: string
  totals?: readonly bigint[]
  namePrefix?: string // in lower case
}

export type PaymentRange = {
  merchant_id: string
  mode: Mode
  first?: string // references from this one
  end?: string // and before this one
  statuses: readonly Status[]
  methods: readonly string[]
  outlets: readonly string[]
  sought?: SoughtPayments
}

const isIn = (column: string, values: readonly string[]) =>
  values.length === 0 ? sql`` : sql`and ${sql([column])} = any(${values})`

const nothing = sql`false`

function isSought({ references, invoicePrefix, phones, email, totals, namePrefix }: SoughtPayments): Query {
  const any = [
    references.length > 0 ? sql`tx_reference = any(${references})` : undefined,
    invoicePrefix === undefined ? undefined : sql`starts_with(invoice_id, ${invoicePrefix})`,
    phones?.length ? sql`number = any(${phones})` : undefined,
    email === undefined ? undefined : sql`lower(email) = lower(${email})`,
    totals?.length ? sql`total = any(${totals})` : undefined,
    namePrefix === undefined ? undefined : sql`starts_with(lower(name), ${namePrefix})`,
  ].filter(one => one !== undefined)
  return any.length === 0 ? nothing : sql`(${join(any, ' or ')})`
}

const matches = ({ mode, statuses, methods, outlets, sought }: PaymentRange) => sql`
  mode = ${mode} ${isIn('status', statuses)} ${isIn('payment_method', methods)} ${isIn('outlet', outlets)}
  ${sought ? sql`and ${isSought(sought)}` : sql``}`

const range = ({ merchant_id, first, end }: PaymentRange, { going, from }: PagePlace) => sql`
  merchant_id = ${merchant_id}
  ${first === undefined ? sql`` : sql`and tx_reference >= ${first}`}
  ${end === undefined ? sql`` : sql`and tx_reference < ${end}`}
  ${from === undefined ? sql`` : going === 'older' ? sql`and tx_reference < ${from}` : sql`and tx_reference > ${from}`}`

const order = ({ going }: PagePlace) =>
  going === 'older' ? sql`order by tx_reference desc` : sql`order by tx_reference`

export const paymentsInRange = (tx: Tx, r: PaymentRange, place: PagePlace, limit: number, most: number) =>
  tx.rows<Payment>(sql`
    select * from (select * from payments where ${range(r, place)} ${order(place)} limit ${most}) as read
    where ${matches(r)} ${order(place)} limit ${limit}`)

// The last payment that `paymentsInRange` has read; undefined if it has read all.
export async function lastInRange(tx: Tx, r: PaymentRange, place: PagePlace, most: number) {
  const [last, next] = await tx.rows<{ tx_reference: string }>(sql`
    select tx_reference from payments where ${range(r, place)} ${order(place)} offset ${most - 1} limit 2`)
  return next && last?.tx_reference
}

// Some payments, of those that match.
export const paymentsAmong = (tx: Tx, r: PaymentRange, place: PagePlace, limit: number) =>
  tx.rows<Payment>(sql`
    select * from payments where ${range(r, place)} and tx_reference = any(${r.sought?.references ?? []})
      and ${matches({ ...r, sought: undefined })} ${order(place)} limit ${limit}`)

type Found = { tx_reference: string }
const referencesIn = (rows: readonly Found[]) => rows.map(({ tx_reference }) => tx_reference)

const behindAll = '\uffff' // sorts behind every character of an id

export const referencesByInvoice = async (
  tx: Tx,
  merchant_id: string,
  mode: Mode,
  prefix: string,
  limit: number,
) =>
  referencesIn(
    await tx.rows<Found>(sql`
      select tx_reference from payments
      where merchant_id = ${merchant_id} and mode = ${mode} and invoice_id >= ${prefix}
        and invoice_id < ${prefix + behindAll} and starts_with(invoice_id, ${prefix})
      order by invoice_id limit ${limit}`),
  )

export const referencesByPrefix = async (tx: Tx, merchant_id: string, prefix: string, limit: number) =>
  referencesIn(
    await tx.rows<Found>(sql`
      select tx_reference from payments
      where merchant_id = ${merchant_id} and tx_reference >= ${prefix} and tx_reference < ${prefix + behindAll}
        and starts_with(tx_reference, ${prefix})
      order by tx_reference desc limit ${limit}`),
  )

// Of one merchant and the periods of an index. Other merchants may have the same number, so of each period at most
// `most` entries are read.
async function inPeriods(
  tx: Tx,
  merchant_id: string,
  periods: readonly string[],
  condition: Query,
  limit: number,
) {
  const parts = periods.map(
    period => sql`
      (select tx_reference from (
        select merchant_id, tx_reference from payments
        where left(tx_reference, 6) = ${period} and ${condition} order by created_at desc limit ${mostOfPeriod}) as read
        where merchant_id = ${merchant_id} limit ${limit})`,
  )
  if (parts.length === 0) return []
  return referencesIn(
    await tx.rows<Found>(
      sql`select tx_reference from (${join(parts, ' union all ')}) as found limit ${limit}`,
    ),
  )
}

const mostOfPeriod = 1000

export const referencesByNumber = (
  tx: Tx,
  merchant_id: string,
  number: string,
  periods: readonly string[],
  limit: number,
) => inPeriods(tx, merchant_id, periods, sql`number = ${number}`, limit)

export const referencesByEmail = (
  tx: Tx,
  merchant_id: string,
  email: string,
  periods: readonly string[],
  limit: number,
) => inPeriods(tx, merchant_id, periods, sql`email is not null and lower(email) = lower(${email})`, limit)

export const paidByAmount = async (
  tx: Tx,
  merchant_id: string,
  totals: readonly bigint[],
  periods: readonly string[],
  limit: number,
) =>
  referencesIn(
    await tx.rows<Found>(sql`
      select tx_reference from payments
      where left(tx_reference, 6) = any(${periods}) and merchant_id = ${merchant_id} and total = any(${totals})
        and status = 'paid' limit ${limit}`),
  )

export const paidByName = async (
  tx: Tx,
  merchant_id: string,
  prefix: string,
  periods: readonly string[],
  limit: number,
) =>
  referencesIn(
    await tx.rows<Found>(sql`
      select tx_reference from payments
      where left(tx_reference, 6) = any(${periods}) and merchant_id = ${merchant_id} and status = 'paid'
        and name is not null and lower(name) collate "C" >= ${prefix}
        and lower(name) collate "C" < ${prefix + behindAll} limit ${limit}`),
  )

// Payments whose attempts have a wallet or a provider's reference.
export const referencesByAttempt = async (
  tx: Tx,
  merchant_id: string,
  {
    wallets,
    providerRef,
    attempt_id,
  }: { wallets: readonly string[]; providerRef?: string; attempt_id?: string },
  limit: number,
) =>
  referencesIn(
    await tx.rows<Found>(sql`
      select distinct tx_reference from (
        (select tx_reference from attempts
          where merchant_id = ${merchant_id} and instrument = any(${wallets}) and state = 'paid' limit ${limit})
        union all
        (select tx_reference from attempts
          where merchant_id = ${merchant_id} and instrument = any(${wallets}) and state <> 'paid' limit ${limit})
        union all
        (select tx_reference from attempts
          where merchant_id = ${merchant_id} and provider_ref = ${providerRef ?? null} limit ${limit})
        union all
        (select tx_reference from attempts
          where merchant_id = ${merchant_id} and attempt_id = ${attempt_id ?? null})) as found
      limit ${limit}`),
  )

export const oldestOf = async (tx: Tx, merchant_id: string) =>
  (
    await tx.one<Found>(sql`
      select tx_reference from payments where merchant_id = ${merchant_id} order by tx_reference limit 1`)
  )?.tx_reference
