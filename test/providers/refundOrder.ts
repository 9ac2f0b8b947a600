import type { RefundOrder } from '../../src/core/provider/refundOrder.ts'
import type { Order } from '../../src/core/provider/order.ts'
import { anOrder } from './order.ts'

let refunds = 0

// A refund of a paid order, as the gateway passes it to a provider: all of it, unless `amount` is less.
export function refundOf(order: Order, changes: Partial<RefundOrder> = {}): RefundOrder {
  const refund_reference = `m0m0m0m0m0${process.pid}r${++refunds}`.padEnd(36, 'x')
  const { attempt_id, idempotency_key, provider_ref, payment_method, amount, started_at } = order
  return {
    refund_reference,
    idempotency_key: refund_reference,
    provider_ref: null,
    amount,
    currency: order.currency,
    reason: 'Returned goods',
    is_whole: (changes.amount ?? amount) === amount,
    requested_at: new Date(),
    sent_at: null,
    is_first_sending: true,
    charge: {
      attempt_id,
      idempotency_key,
      provider_ref,
      payment_method,
      amount,
      instrument: order.given.phone ?? null,
      started_at,
      paid_at: new Date(),
    },
    tx_reference: order.tx_reference,
    invoice_id: order.invoice_id,
    merchant_name: order.merchant_name,
    other_refs: [],
    callback_url: 'https://pay.example.test/callbacks/c0ffee',
    webhook_url: order.webhook_url,
    ...changes,
  }
}

export const aRefund = (changes: Partial<RefundOrder> = {}): RefundOrder =>
  refundOf(anOrder('mtn_mobile_money', { provider_ref: '4711' }), changes)
