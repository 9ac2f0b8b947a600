import { createHmac } from 'node:crypto'
import paystack from '../../../src/providers/paystack.ts'
import type { ProviderAccount, ProviderTools } from '../../../src/core/provider/provider.ts'
import type { Order } from '../../../src/core/provider/order.ts'
import type { Reply } from '../../../src/core/provider/reply.ts'
import { anOrder } from '../order.ts'

export const secretKey = 'sk_test_0123456789abcdef0123456789abcdef01234567'

export const tools = (clock: () => Date = () => new Date()): ProviderTools => ({
  egress: {},
  clock,
  token: async (make, signal) => (await make(signal)).token,
})

export const accountAt = (url: string, clock?: () => Date): ProviderAccount =>
  paystack.open({ secret_key: secretKey, url }, tools(clock))

// Paystack wants an email.
export const orderFor = (payment_method: string, changes: Partial<Order> = {}): Order =>
  anOrder(payment_method, { email: 'kofi@example.test', merchant_name: 'Ama Shop', ...changes })

export const never = new AbortController().signal

export const start = (providerAccount: ProviderAccount, order: Order): Promise<Reply> =>
  providerAccount.start(order, never)
export const check = (providerAccount: ProviderAccount, order: Order): Promise<Reply> =>
  providerAccount.check(order, never)
export const submit = async (
  providerAccount: ProviderAccount,
  order: Order,
  step: string,
  input: Record<string, string>,
): Promise<Reply | undefined> => providerAccount.submit?.(order, step, input, never)

export const sign = (body: string | Buffer, key = secretKey) =>
  createHmac('sha512', key).update(body).digest('hex')
