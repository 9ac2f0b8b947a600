import { expect, test } from 'vitest'
import type { ProviderAccount, ProviderTiming } from '../../../src/core/provider/provider.ts'
import type { RefundReply } from '../../../src/core/provider/refundOrder.ts'
import { CredentialsRefused, NotSent } from '../../../src/core/provider/reply.ts'
import { guardAccount } from '../../../src/runtime/providers/guard.ts'
import { createHealthMonitors, type ObservedCall } from '../../../src/runtime/providers/healthMonitor.ts'
import { anOrder } from '../../providers/order.ts'
import { aRefund } from '../../providers/refundOrder.ts'
import { terms } from '../../support/payments/simulatedNode.ts'

type Respond = (signal: AbortSignal) => Promise<RefundReply>

function openAccount(more: Partial<ProviderAccount> = {}, timing: ProviderTiming = {}) {
  const observed: ObservedCall[] = []
  const state = { now: 0, calls: 0, respond: (async () => ({ state: 'pending' })) as Respond }
  const monitors = createHealthMonitors({
    monotonicMs: () => state.now,
    watch: call => observed.push(call),
  })
  const answer = (_: unknown, signal: AbortSignal) => (state.calls++, state.respond(signal))
  const account = guardAccount(
    {
      ...terms,
      mode: 'live',
      timing,
      methods: [],
      start: async () => ({ state: 'pending' }),
      check: async () => ({ state: 'pending' }),
      refunds: { isIdempotent: true, hasPartial: true, refund: answer, checkRefund: answer },
      ...more,
    },
    undefined,
    monitors.account('acme'),
  )
  const { refunds } = account
  if (!refunds) throw new Error('no refunds')
  return { account, refunds, state, observed, monitors }
}

const unanswered: Respond = async () => ({ state: 'unknown', words: 'HTTP 503' })
const refused: Respond = async () => {
  throw new NotSent('no token', { cause: new CredentialsRefused('HTTP 401') })
}

test('an account without refunds has none', () => {
  const { refunds: _, ...rest } = openAccount().account
  expect(guardAccount({ ...terms, mode: 'live', methods: [], ...rest } as ProviderAccount).refunds).toBe(
    undefined,
  )
})

test('what is thrown is unknown; not sent is that for a refund, and proves nothing for a question', async () => {
  const { refunds, state } = openAccount()
  state.respond = async () => {
    throw new Error('socket hang up')
  }
  expect(await refunds.refund(aRefund())).toEqual({ state: 'unknown', words: 'socket hang up' })
  state.respond = refused
  expect(await refunds.refund(aRefund())).toMatchObject({ state: 'not_sent', isRefusal: true })
  expect(await refunds.checkRefund(aRefund())).toMatchObject({ state: 'unknown', isRefusal: true })
})

test('a call ends within its timeout, and its signal is aborted', async () => {
  const { refunds, state } = openAccount({ refundTiming: { startTimeoutMs: 30, pollTimeoutMs: 30 } })
  let aborted = 0
  state.respond = signal => new Promise(() => signal.addEventListener('abort', () => aborted++))
  for (const reply of [await refunds.refund(aRefund()), await refunds.checkRefund(aRefund())])
    expect(reply).toEqual({ state: 'unknown', words: 'no answer in time' })
  expect(aborted).toBe(2)
})

test('a success for another refund or amount is none', async () => {
  const { refunds, state } = openAccount()
  const order = aRefund()
  const reply = { state: 'succeeded', refund: order.idempotency_key, amount: 2500n, currency: 'GHS' } as const
  state.respond = async () => reply
  expect(await refunds.refund(order)).toEqual(reply)
  expect(await refunds.refund(aRefund())).toMatchObject({ state: 'other_refund' })
  expect(await refunds.checkRefund({ ...order, amount: 2400n })).toMatchObject({ state: 'other_refund' })
})

for (const [what, respond] of [
  ['without an answer', unanswered],
  ['refused', refused],
] as const)
  test(`refunds ${what} stop refunds and not orders, and leave the account healthy`, async () => {
    const { account, refunds, state, monitors } = openAccount()
    state.respond = respond
    for (let times = 0; times < 5; times++) await refunds.refund(aRefund())
    state.respond = async () => ({ state: 'pending' })
    expect(await refunds.refund(aRefund())).toMatchObject({ state: 'not_sent' })
    expect(state.calls).toBe(5)
    expect(account.mayStart()).toBe(true)
    expect(monitors.of('acme', 'mtn_mobile_money')).toBe('healthy')
    expect(monitors.account('acme').refusal).toBeUndefined()
    state.now += 5000
    expect(await refunds.refund(aRefund())).toEqual({ state: 'pending' })
    expect(await refunds.refund(aRefund())).toEqual({ state: 'pending' })
  })

test('an answered refund does not hide that orders fail', async () => {
  const { account, refunds, monitors } = openAccount({
    start: async () => ({ state: 'unknown', words: 'HTTP 503' }),
  })
  for (let times = 0; times < 5; times++) await account.start(anOrder('mtn_mobile_money'))
  expect(await refunds.refund(aRefund())).toEqual({ state: 'pending' })
  expect(account.mayStart()).toBe(false)
  expect(monitors.of('acme', 'mtn_mobile_money')).toBe('down')
})

test('a pause that an order was asked for applies to refunds; one of a refund does not apply to orders', async () => {
  const { account, refunds, state } = openAccount({
    start: async () => ({ state: 'unknown', words: 'HTTP 429', restMs: 10_000 }),
  })
  state.respond = async () => ({ state: 'unknown', words: 'HTTP 429', restMs: 5000 })
  await refunds.refund(aRefund())
  state.respond = async () => ({ state: 'pending' })
  expect(await refunds.refund(aRefund())).toMatchObject({ state: 'not_sent' })
  expect(await refunds.checkRefund(aRefund())).toMatchObject({ state: 'unknown' })
  expect(account.mayStart()).toBe(true)
  state.now += 5000
  expect(await refunds.refund(aRefund())).toEqual({ state: 'pending' })
  await account.start(anOrder('mtn_mobile_money'))
  expect(await refunds.refund(aRefund())).toMatchObject({ state: 'not_sent' })
})

test('refunds wait for the rate limit of the account', async () => {
  const { refunds } = openAccount({ refundTiming: { startTimeoutMs: 40 } }, { callsPerSecond: 1 })
  expect(await refunds.refund(aRefund())).toEqual({ state: 'pending' })
  expect(await refunds.refund(aRefund())).toMatchObject({ state: 'not_sent' })
})

test('calls are observed', async () => {
  const { refunds, state, observed } = openAccount()
  await refunds.refund(aRefund())
  state.respond = unanswered
  await refunds.checkRefund(aRefund())
  expect(observed).toMatchObject([
    { account: 'acme', verb: 'refund', outcome: 'answered', payment_method: 'mtn_mobile_money' },
    { account: 'acme', verb: 'ask_refund', outcome: 'unanswered' },
  ])
})

test('keys: the provider’s, or the reference itself', () => {
  const { refunds } = openAccount()
  expect(refunds.newIdempotencyKey('r')).toBeNull()
  const own = openAccount({
    refunds: {
      isIdempotent: true,
      hasPartial: false,
      newIdempotencyKey: reference => `key of ${reference}`,
      refund: async () => ({ state: 'pending' }),
      checkRefund: async () => ({ state: 'absent' }),
    },
  })
  expect(own.refunds.newIdempotencyKey('r')).toBe('key of r')
})
