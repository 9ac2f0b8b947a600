import type { Attempt } from '../../core/payment/attempt.ts'
import { named, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../ofMerchants.ts'
import { type PaymentKey, paymentKeysOf, paymentName } from './paymentKeys.ts'
import { lockPayment, type PaymentWithMerchant, paymentWithMerchant } from './paymentLife.ts'

// Those whose time is over and of which nothing is on its way, without some that are left out.
const isExpired = (now: Date, leftOut: readonly PaymentKey[]) => sql`
  p.status = 'awaiting_payment' and p.expires_at <= ${now}
  and not exists (select from attempts a where a.merchant_id = p.merchant_id
    and a.tx_reference = p.tx_reference and a.state not in ('paid', 'failed'))
  ${isNoneOf(leftOut)}`

const isNoneOf = (keys: readonly PaymentKey[]) =>
  keys.length === 0
    ? sql``
    : sql`and p.merchant_id || ' ' || p.tx_reference <> all(${keys.map(paymentName)}::text[])`

function unnestKeys(keys: readonly PaymentKey[]) {
  const { merchants, references } = paymentKeysOf(keys)
  return sql`unnest(${merchants}::text[], ${references}::text[]) as k (merchant_id, tx_reference)`
}

// The oldest that nobody holds; now we do. Planned anew each time: how far to read depends on the moment.
export const lockExpired = (tx: Tx, now: Date, leftOut: readonly PaymentKey[], limit: number) =>
  tx.rows<PaymentWithMerchant>(sql`
    ${paymentWithMerchant} where ${isExpired(now, leftOut)}
    order by p.expires_at limit ${limit} for update of p skip locked`)

export const findExpired = (tx: Tx, now: Date, leftOut: readonly PaymentKey[], limit: number) =>
  tx.rows<PaymentKey>(sql`
    select p.merchant_id, p.tx_reference from payments p where ${isExpired(now, leftOut)}
    order by p.expires_at limit ${limit}`)

export const lockFreePayments = (tx: Tx, keys: readonly PaymentKey[]) =>
  tx.rows<PaymentWithMerchant>(named('lock_free_payments')`
    ${paymentWithMerchant} join ${unnestKeys(keys)}
      on k.merchant_id = p.merchant_id and k.tx_reference = p.tx_reference
    for update of p skip locked`)

// One by one, as a sharded database wants it; in one order, so that two who lock the same wait for each other instead
// of deadlocking.
export async function lockPayments(tx: Tx, keys: readonly PaymentKey[]): Promise<PaymentWithMerchant[]> {
  const locked: PaymentWithMerchant[] = []
  for (const key of keys.toSorted((a, b) => (paymentName(a) < paymentName(b) ? -1 : 1))) {
    const payment = await lockPayment(tx, key)
    if (payment) locked.push(payment)
  }
  return locked
}

// Of many payments, as they stand when these are held.
export const attemptsOfMany = (tx: Tx, keys: readonly PaymentKey[]) =>
  tx.rows<Attempt>(named('attempts_of_many')`
    select a.* from ${unnestKeys(keys)}
      join attempts a on a.merchant_id = k.merchant_id and a.tx_reference = k.tx_reference
    where ${ofMerchants('a', keys)}
    order by a.number`)
