import type { NewPayment } from '../../core/payment/payment.ts'
import { sql } from '../db.ts'

export type PaymentKey = Pick<NewPayment, 'merchant_id' | 'tx_reference'>

export const paymentName = ({ merchant_id, tx_reference }: PaymentKey) => `${merchant_id} ${tx_reference}`

// Transactions lock and write in this order, so that two of them do not deadlock.
export const byPaymentName = (a: PaymentKey, b: PaymentKey) => (paymentName(a) < paymentName(b) ? -1 : 1)

// Column by column, for statements about many payments.
export const paymentKeysOf = (keys: readonly PaymentKey[]) => ({
  merchants: keys.map(key => key.merchant_id),
  references: keys.map(key => key.tx_reference),
})

export function unnestPaymentKeys(keys: readonly PaymentKey[]) {
  const { merchants, references } = paymentKeysOf(keys)
  return sql`unnest(${merchants}::text[], ${references}::text[]) as k (merchant_id, tx_reference)`
}
