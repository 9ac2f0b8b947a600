import assert from 'node:assert/strict'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pay } from '../../../src/actions/payments/pay.ts'
import { pollDue } from '../../../src/actions/providers/pollDue.ts'
import mtn from '../../../src/providers/mtn.ts'
import { createHealthMonitors } from '../../../src/runtime/providers/healthMonitor.ts'
import type { PaymentDeps } from '../../../src/runtime/runtime.ts'
import { type MtnSimulator, openMtn } from '../../simulators/mtn/mtn.ts'
import { changesOn } from '../../support/gateway/runtime.ts'
import { openPaymentDatabase, type PaymentDatabase } from '../../support/payments/paymentDatabase.ts'
import { after, hours, minutes, noon, seconds } from '../../support/payments/rows.ts'
import { aPayRequest } from '../../support/payments/simulatedNode.ts'
import { tools } from '../stories/stage.ts'
import { mtnSettings } from './play.ts'
import { fixedAccounts } from '../../support/payments/fixedAccounts.ts'

// The real MTN module on a node with a database, against a simulated MTN. The test sets the time.
let lives: PaymentDatabase
let played: MtnSimulator
beforeAll(async () => {
  lives = await openPaymentDatabase()
  played = await openMtn({ environment: 'sandbox' })
})
afterAll(async () => {
  await lives.close()
  await played.stop()
})

const fail = (error: unknown) => expect(error).toBeUndefined()
let people = 0

function openNode() {
  let now = noon
  const providerAccount = mtn.open({ ...mtnSettings, environment: 'sandbox', url: played.url }, tools)
  const monitors = createHealthMonitors({ monotonicMs: () => now.getTime() - noon.getTime() })
  const node: PaymentDeps = {
    ...changesOn(lives.db),
    providerAccounts: fixedAccounts(
      new Map([
        ['mtn', { ...providerAccount, timing: { ...providerAccount.timing, pollsPerSecond: undefined } }],
      ]),
      () => () => {},
      monitors,
    ),
    baseUrl: () => 'https://pay.example',
    timeZone: 'UTC',
    clock: () => now,
    watch() {},
    wake() {},
  }
  return {
    monitors,
    async pay(phone: string) {
      const [payment] = await lives.addPayments(1, now, () => hours(30))
      assert.ok(payment)
      await pay(node, payment, aPayRequest({ address: `192.0.2.${++people}`, input: { phone } }))
      return async () => {
        const [life] = await lives.read([payment.tx_reference])
        const attempt = life?.attempts[0]
        assert.ok(life && attempt)
        return { ...life, attempt, tasks: life.tasks.map(({ kind }) => kind) }
      }
    },
    async wait(ms: number, step = seconds(1)) {
      for (const end = after(ms, now); now < end; ) {
        now = after(step, now)
        await pollDue(node, fail)
      }
    },
  }
}

describe('a refused order fails immediately', () => {
  for (const [number, reason, words, provider_code] of [
    ['0244000006', 'no_wallet', 'The number has no wallet on this network.', 'PAYER_NOT_FOUND'],
    ['0244000007', 'no_wallet', 'The number has no wallet on this network.', 'PAYER_NOT_FOUND'],
    ['0244000009', 'account_trouble', expect.any(String), 'NOT_ALLOWED'],
    ['0244000010', 'refused', 'The provider refused the payment.', 'HTTP 400'],
    ['0244000011', 'refused', 'The provider refused the payment.', 'HTTP 400'],
    ['0244000014', 'refused', 'The provider refused the payment.', 'HTTP 200, an HTML page'],
  ] as const)
    test(`${number}: ${reason} ${provider_code}`, async () => {
      const node = openNode()
      const life = await node.pay(number)
      const { payment, attempt } = await life()
      expect([payment.status, payment.status_reason]).toEqual(['failed', words])
      expect(attempt).toMatchObject({ state: 'failed', reason, provider_code, sends: 1 })
    })
})

test('an order that is refused and was accepted is paid', async () => {
  const node = openNode()
  const life = await node.pay('0244000017')
  expect((await life()).payment.status).toBe('paid')
})

for (const number of ['0244000012', '0244000013'])
  test(`${number}: MTN refuses the caller, so it is sent again for a minute, and then fails`, async () => {
    const node = openNode()
    const life = await node.pay(number)
    expect((await life()).attempt.state).toBe('not_sent')
    await node.wait(seconds(80))
    const { payment, attempt } = await life()
    expect([payment.status, attempt.reason]).toEqual(['failed', 'not_sent'])
    expect(attempt.sends).toBeGreaterThan(2)
  })

describe('"not found" is final after 16 minutes, with the right reason', () => {
  const lost = '233249000001'
  for (const [what, number, reason, words] of [
    ['lost on the way twice', lost, 'never_arrived', 'The request never reached the provider.'],
    ['refused with a code, used up', '233244000015', 'refused', 'The provider refused the payment.'],
    ['refused with a code, not used up', '233244000016', 'refused', 'The provider refused the payment.'],
  ] as const)
    test(what, async () => {
      played.rule({ number: lost, story: { submit: 'cut', isTaken: false, isUsedUp: false } })
      const node = openNode()
      const life = await node.pay(`+${number}`)
      await node.wait(minutes(2))
      expect((await life()).attempt).toMatchObject({ state: 'unknown', sends: 2, acknowledged_at: null })
      await node.wait(minutes(14) - seconds(1), seconds(1))
      expect((await life()).attempt.state).toBe('unknown')
      await node.wait(seconds(2))
      const { payment, attempt } = await life()
      expect(attempt).toMatchObject({ state: 'failed', reason })
      expect([payment.status, payment.status_reason]).toEqual(['failed', words])
    })
})

test('SUCCESSFUL with an unreadable amount raises a task at the first poll', async () => {
  const node = openNode()
  const life = await node.pay('0244000005')
  await node.wait(seconds(5))
  const { payment, attempt, tasks } = await life()
  expect([payment.status, attempt.state, tasks]).toEqual([
    'awaiting_payment',
    'disputed',
    ['amount_mismatch'],
  ])
})

test('declines for insufficient funds do not affect the health of the account', async () => {
  const node = openNode()
  for (let n = 0; n < 6; n++) {
    const life = await node.pay('0244000002')
    await node.wait(seconds(5))
    expect((await life()).attempt).toMatchObject({ state: 'failed', reason: 'insufficient_funds' })
  }
  expect(node.monitors.of('mtn', 'mtn_mobile_money')).toBe('healthy')
})

test('an unknown code: the account stays healthy, and the third attempt raises a task', async () => {
  const node = openNode()
  const tasks: string[][] = []
  for (let n = 0; n < 5; n++) {
    const life = await node.pay('0244000004')
    await node.wait(seconds(5))
    const told = await life()
    expect(told.attempt).toMatchObject({ reason: 'refused', provider_code: 'WALLET_TIER_7_NOT_ELIGIBLE' })
    tasks.push(told.tasks)
  }
  expect(tasks).toEqual([[], [], ['unknown_code'], [], []])
  expect(node.monitors.of('mtn', 'mtn_mobile_money')).toBe('healthy')
})
