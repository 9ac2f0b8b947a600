import { createHmac } from 'node:crypto'
import paystack from '../../../src/channels/paystack.ts'
import type { Channel, ChannelTools } from '../../../src/core/channel/channel.ts'
import type { Order } from '../../../src/core/channel/order.ts'
import type { Reply } from '../../../src/core/channel/reply.ts'
import { anOrder } from '../order.ts'

export const secretKey = 'sk_test_0123456789abcdef0123456789abcdef01234567'

export const tools = (clock: () => Date = () => new Date()): ChannelTools => ({
  egress: {},
  clock,
  token: async (make, signal) => (await make(signal)).token,
})

export const channelAt = (url: string, clock?: () => Date): Channel =>
  paystack.open({ secret_key: secretKey, url }, tools(clock))

// Paystack wants an email.
export const orderFor = (payment_method: string, changes: Partial<Order> = {}): Order =>
  anOrder(payment_method, { email: 'kofi@example.test', merchant_name: 'Ama Shop', ...changes })

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
