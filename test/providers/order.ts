import type { Order } from '../../src/core/provider/order.ts'

let orders = 0

// As the house tells of an attempt: its id has 36 small letters and digits.
export function anOrder(payment_method: string, changes: Partial<Order> = {}): Order {
  const attempt_id = `m0m0m0m0m0${process.pid}n${++orders}`.padEnd(36, 'x')
  return {
    attempt_id,
    idempotency_key: attempt_id,
    number: 1,
    started_at: new Date(),
    sent_at: new Date(),
    ends_at: new Date(Date.now() + 300_000),
    check_reversals: false,
    is_first_sending: true,
    provider_code: null,
    tx_reference: 'TG-000000-000000-000000',
    invoice_id: `SH-${orders}`,
    payment_method,
    amount: 2500n,
    currency: 'GHS',
    given: payment_method === 'card' ? {} : { phone: '+233244123456' },
    merchant_id: 'ama',
    merchant_name: 'Ama’s Shop',
    email: null,
    name: null,
    phone: null,
    description: 'Two straw hats',
    provider_ref: null,
    redirect_url: null,
    callback_url: 'https://pay.example.test/callbacks/c0ffee',
    webhook_url: 'https://pay.example.test/callbacks/account/c0ffee',
    return_url: 'https://pay.example.test/checkout/t0ken',
    ...changes,
  }
}
