import type { Refund } from '../../core/refund/refund.ts'
import { named, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'
import { type PaymentKey, paymentName, unnestPaymentKeys } from '../payments/paymentKeys.ts'

export type RefundIdKey = Pick<Refund, 'merchant_id' | 'mode'> & { refund_id: string }

// The refund that the merchant knows by this id.
export const findRefundById = (tx: Tx, { merchant_id, mode, refund_id }: RefundIdKey) =>
  tx.one<Refund>(named('find_refund_by_id')`
    select * from refunds
    where merchant_id = ${merchant_id} and mode = ${mode} and refund_id = ${refund_id}`)

// All refunds of these payments, the oldest first. Read only for payments that have some.
export async function refundsOfPayments(tx: Tx, keys: readonly PaymentKey[]): Promise<Map<string, Refund[]>> {
  const rows = await tx.rows<Refund>(named('refunds_of_payments')`
    select r.* from ${unnestPaymentKeys(keys)}
      join refunds r on r.merchant_id = k.merchant_id and r.tx_reference = k.tx_reference and ${ofMerchants('r', keys)}
    order by r.created_at, r.refund_reference`)
  const byPayment = new Map<string, Refund[]>()
  for (const row of rows) byPayment.set(paymentName(row), [...(byPayment.get(paymentName(row)) ?? []), row])
  return byPayment
}

export const refundsOfPayment = async (tx: Tx, key: PaymentKey) =>
  (await refundsOfPayments(tx, [key])).get(paymentName(key)) ?? []

export const findRefundByReference = (
  tx: Tx,
  { merchant_id, refund_reference }: Pick<Refund, 'merchant_id' | 'refund_reference'>,
) =>
  tx.one<Refund>(named('find_refund_by_reference')`
    select * from refunds where merchant_id = ${merchant_id} and refund_reference = ${refund_reference}`)
