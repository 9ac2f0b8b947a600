import { join } from 'sql-template-tag'
import type { Payment } from '../../core/payment/payment.ts'
import { type Db, named, type Query, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { withShardedVariant } from '../shardedVariant.ts'
import { type PaymentKey, unnestPaymentKeys } from './paymentKeys.ts'

// The search of support staff, who often do not know the merchant. Each function is about one column with its own index,
// and returns the newest first.

type SearchPlace = {
  periods: readonly string[] // the beginnings of references, newest first
  limit: number
}

const periodsAtOnce = 50 // a part of a statement for each

export const paymentsByNumber = (tx: Tx, number: string, place: SearchPlace) =>
  searchPeriods(tx, place, sql`number = ${number}`)

export const paymentsByEmail = (tx: Tx, email: string, place: SearchPlace) =>
  searchPeriods(tx, place, sql`email is not null and lower(email) = lower(${email})`)

// The newest of each period are read in the order of the index, so that a number that thousands of payments have costs no
// more than another one.
async function searchPeriods(tx: Tx, { periods, limit }: SearchPlace, condition: Query) {
  const found: PaymentKey[] = []
  for (let at = 0; at < periods.length && found.length < limit; at += periodsAtOnce) {
    const parts = periods.slice(at, at + periodsAtOnce).map(
      period => sql`
        (select merchant_id, tx_reference, created_at from payments
          where left(tx_reference, 6) = ${period} and ${condition} order by created_at desc limit ${limit})`,
    )
    found.push(
      ...(await tx.rows<PaymentKey>(sql`
        select merchant_id, tx_reference from (${join(parts, ' union all ')}) as found
        order by created_at desc limit ${limit}`)),
    )
  }
  return found
}

// All payments of one period, for the export of a person.
export const paymentsOfPeriod = (tx: Tx, period: string, by: { number: string } | { email: string }) =>
  tx.rows<PaymentKey>(sql`
    select merchant_id, tx_reference from payments where left(tx_reference, 6) = ${period}
      and ${'number' in by ? sql`number = ${by.number}` : sql`email is not null and lower(email) = lower(${by.email})`}
    order by tx_reference desc`)

// Paid attempts of a wallet have their own index. The others are in one that begins with the merchant.
export const paymentsByWallet = (
  tx: Tx,
  merchant_ids: readonly string[],
  instrument: string,
  limit: number,
) =>
  tx.rows<PaymentKey>(sql`
    (select merchant_id, tx_reference from attempts where instrument = ${instrument} and state = 'paid'
      order by created_at desc limit ${limit})
    union all
    (select merchant_id, tx_reference from attempts
      where merchant_id = any(${merchant_ids}) and instrument = ${instrument} and state <> 'paid'
      order by created_at desc limit ${limit})`)

export const paymentsByProviderRef = (tx: Tx, provider_ref: string, limit: number) =>
  tx.rows<PaymentKey>(sql`
    select merchant_id, tx_reference from attempts where provider_ref = ${provider_ref} limit ${limit}`)

export const paymentsByAttempt = (tx: Tx, merchant_id: string, attempt_id: string) =>
  tx.rows<PaymentKey>(sql`
    select merchant_id, tx_reference from attempts
    where merchant_id = ${merchant_id} and attempt_id = ${attempt_id}`)

export const paymentsByToken = (tx: Tx, merchant_id: string, tx_token: string) =>
  tx.rows<PaymentKey>(sql`
    select merchant_id, tx_reference from payments where merchant_id = ${merchant_id} and tx_token = ${tx_token}`)

export const readPayments = (tx: Tx, keys: readonly PaymentKey[]) =>
  tx.rows<Payment>(named('read_payments')`
    select p.* from ${unnestPaymentKeys(keys)}
      join payments p on p.merchant_id = k.merchant_id and p.tx_reference = k.tx_reference
    where ${ofMerchants('p', keys)}
    order by p.created_at desc`)

// Undefined if there is no payment. References sort by time, so each merchant's oldest is the first of its key range.
export async function oldestReference(db: Db): Promise<string | undefined> {
  const read = (query: Query) => db.one<{ oldest: string | null }>(query)
  const found = await withShardedVariant(
    () =>
      read(sql`
        select min(p.tx_reference) as oldest from merchants m cross join lateral (
          select tx_reference from payments where merchant_id = m.merchant_id order by tx_reference limit 1) as p`),
    () => read(sql`select min(tx_reference) as oldest from payments`),
  )
  return found?.oldest ?? undefined
}

// The newest of all merchants.
export const latestPayments = (db: Db, limit: number) =>
  withShardedVariant(
    () =>
      db.rows<Payment>(sql`
        select p.* from merchants m cross join lateral (
          select * from payments where merchant_id = m.merchant_id order by tx_reference desc limit ${limit}) as p
        order by p.tx_reference desc limit ${limit}`),
    () => db.rows<Payment>(sql`select * from payments order by tx_reference desc limit ${limit}`),
  )
