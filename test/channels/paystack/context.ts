import { createHmac } from 'node:crypto'
import paystack from '../../../src/channels/paystack.ts'
import type { Channel, ChannelTools } from '../../../src/core/channel/channel.ts'
import type { Order } from '../../../src/core/channel/order.ts'
import type { Reply } from '../../../src/core/channel/reply.ts'

export const secretKey = 'sk_test_0123456789abcdef0123456789abcdef01234567'

export const tools = (clock: () => Date = () => new Date()): ChannelTools => ({
  egress: {},
  clock,
  token: async (make, signal) => (await make(signal)).token,
})

export const channelAt = (url: string, clock?: () => Date): Channel =>
  paystack.open({ secret_key: secretKey, url }, tools(clock))

let orders = 0

// As the house tells of an attempt: its id has 36 small letters and digits.
export function orderFor(payment_method: string, changes: Partial<Order> = {}): Order {
  const attempt_id = `m0m0m0m0m0${process.pid}n${++orders}`.padEnd(36, 'x')
  return {
    attempt_id,
    key: attempt_id,
    number: 1,
    started_at: new Date(),
    tx_reference: 'TG-000000-000000-000000',
    invoice_id: `SH-${orders}`,
    payment_method,
    amount: 2500n,
    currency: 'GHS',
    given: payment_method === 'card' ? {} : { phone: '+233244123456' },
    merchant_id: 'ama',
    merchant_name: 'Ama Shop',
    email: 'kofi@example.test',
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

export const never = new AbortController().signal

export const start = (channel: Channel, order: Order): Promise<Reply> => channel.start(order, never)
export const check = (channel: Channel, order: Order): Promise<Reply> => channel.check(order, never)
export const submit = async (
  channel: Channel,
  order: Order,
  step: string,
  typed: Record<string, string>,
): Promise<Reply | undefined> => channel.submit?.(order, step, typed, never)

export const sign = (body: string | Buffer, key = secretKey) =>
  createHmac('sha512', key).update(body).digest('hex')
