import { expect, test } from 'vitest'
import type { ProviderAccount } from '../../src/core/provider/provider.ts'
import type { Order } from '../../src/core/provider/order.ts'
import type { Reply } from '../../src/core/provider/reply.ts'
import type { PaymentMethod } from '../../src/core/provider/paymentMethod.ts'
import { guardAccount } from '../../src/runtime/providers/guard.ts'
import { terms } from '../support/payments/simulatedNode.ts'
import { pending } from '../support/payments/rows.ts'
import { fixedAccounts } from '../support/payments/fixedAccounts.ts'

const order = {} as Order

// A line whose deadlines are over when the test says so.
function line(check: ProviderAccount['check']) {
  const deadlines = new Set<() => void>()
  const timer = (ring: () => void) => (deadlines.add(ring), () => deadlines.delete(ring))
  const ours = guardAccount({ ...terms, mode: 'test', methods: [], start: check, check }, timer)
  return { ...ours, deadlines, ring: () => [...deadlines].forEach(ring => ring()) }
}
const wayOf = (payment_method: string) =>
  ({ payment_method, currencies: ['GHS'] }) as unknown as PaymentMethod
const never = () => new Promise<Reply>(() => {})

test('a call that hangs ends at the deadline, and its signal is aborted', async () => {
  let hungUp: unknown
  const { check, ring } = line((_, signal) => {
    signal.addEventListener('abort', () => (hungUp = signal.reason))
    return never()
  })
  const asked = check(order)
  ring()
  expect(await asked).toEqual({ state: 'unknown', words: 'no answer in time' })
  expect(hungUp).toEqual(new Error('no answer in time'))
})

test('an answer in time is returned, and the timer is cancelled', async () => {
  const { check, start, deadlines } = line(async () => pending)
  expect([await check(order), await start(order)]).toEqual([pending, pending])
  expect(deadlines.size).toBe(0)
})

for (const [name, broken] of [
  ['throws', () => Promise.reject(new Error('it broke\u0000'))],
  [
    'throws at once',
    () => {
      throw new Error('it broke')
    },
  ],
  ['throws what is no error', () => Promise.reject('it broke')], // oxlint-disable-line typescript/prefer-promise-reject-errors -- as some do
] as const)
  test(`a provider that ${name} gives no answer`, async () => {
    expect(await line(broken).check(order)).toEqual({ state: 'unknown', words: 'it broke' })
  })

test('test endings belong to their payment method, and never to a live account', () => {
  const testEndings = [{ name: 'paid', payment_method: 'wallet', input: { phone: '0240000000' } }] as const
  const plays = (mode: 'test' | 'live') =>
    fixedAccounts(
      new Map([
        [
          'one',
          {
            ...terms,
            mode,
            methods: [wayOf('wallet'), wayOf('card')],
            testEndings,
            start: never,
            check: never,
          },
        ],
      ]),
    ).availableMethods({ merchant_id: 'm', mode, currency: 'GHS', total: 2500n })
  expect(plays('test').map(method => method.testEndings)).toEqual([testEndings, []])
  expect(plays('live').map(method => method.testEndings)).toEqual([undefined, undefined])
})

test('the calls under way are limited, and calls that time out make room', async () => {
  const { check, ring } = line(never)
  const first = Array.from({ length: 500 }, () => check(order))
  expect(await check(order)).toEqual({ state: 'unknown', words: 'Too many orders are under way.' })
  ring()
  await Promise.all(first)
  const next = check(order)
  ring()
  expect(await next).toEqual({ state: 'unknown', words: 'no answer in time' })
})
