import type { Attempt } from '../../core/payment/attempt.ts'
import { named, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { type PaymentKey, paymentKeysOf, paymentName } from './paymentKeys.ts'
import { lockPayment, type PaymentWithMerchant, paymentWithMerchant } from './paymentLife.ts'

// Where a look for expired payments continues: behind this payment, in the order of expiry.
export type ExpiryPosition = PaymentKey & { expires_at: Date }

// Which payments a look is for: those that have expired by `now` and have no unresolved attempt.
export type ExpiryLook = {
  now: Date
  behind?: ExpiryPosition // without it, from the oldest
  leftOut: readonly PaymentKey[]
}

// The first condition on `behind` follows from the second; the planner uses it to start in the index.
const isExpired = ({ now, behind, leftOut }: ExpiryLook) => sql`
  p.status = 'awaiting_payment' and p.expires_at <= ${now}
  ${
    behind
      ? sql`and p.expires_at >= ${behind.expires_at} and (p.expires_at, p.merchant_id, p.tx_reference) >
          (${behind.expires_at}, ${behind.merchant_id}, ${behind.tx_reference})`
      : sql``
  }
  and not exists (select from attempts a where a.merchant_id = p.merchant_id
    and a.tx_reference = p.tx_reference and a.state not in ('paid', 'failed'))
  ${isNoneOf(leftOut)}`

const inExpiryOrder = sql`order by p.expires_at, p.merchant_id, p.tx_reference`

const isNoneOf = (keys: readonly PaymentKey[]) =>
  keys.length === 0
    ? sql``
    : sql`and p.merchant_id || ' ' || p.tx_reference <> all(${keys.map(paymentName)}::text[])`

function unnestKeys(keys: readonly PaymentKey[]) {
  const { merchants, references } = paymentKeysOf(keys)
  return sql`unnest(${merchants}::text[], ${references}::text[]) as k (merchant_id, tx_reference)`
}

// The oldest that no other transaction has locked. Planned anew each time: how far to read depends on the times.
export const lockExpired = (tx: Tx, look: ExpiryLook, limit: number) =>
  tx.rows<PaymentWithMerchant>(sql`
    ${paymentWithMerchant} where ${isExpired(look)}
    ${inExpiryOrder} limit ${limit} for update of p skip locked`)

export const findExpired = (tx: Tx, look: ExpiryLook, limit: number) =>
  tx.rows<ExpiryPosition>(sql`
    select p.merchant_id, p.tx_reference, p.expires_at from payments p where ${isExpired(look)}
    ${inExpiryOrder} limit ${limit}`)

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
