import type { NewPayment } from '../../core/payment/payment.ts'
// Column by column, for statements about many.
export const paymentKeysOf = (keys: readonly PaymentKey[]) => ({
  merchants: keys.map(key => key.merchant_id),
  references: keys.map(key => key.tx_reference),
})

export const paymentName = ({ merchant_id, tx_reference }: PaymentKey) => `${merchant_id} ${tx_reference}`

export type PaymentKey = Pick<NewPayment, 'merchant_id' | 'tx_reference'>
