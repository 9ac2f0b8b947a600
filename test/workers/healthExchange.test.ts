import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { readProviderStatus } from '../../src/actions/providers/health.ts'
import type { ProviderAccount } from '../../src/core/provider/provider.ts'
import { newAttemptId } from '../../src/runtime/ids.ts'
import { createHealthMonitors } from '../../src/runtime/providers/healthMonitor.ts'
import { sql } from '../../src/store/db.ts'
import { createHealthExchange } from '../../src/workers/providerHealth.ts'
import { query } from '../support/database/database.ts'
import {
  insertAttempt,
  openPaymentDatabase,
  type PaymentDatabase,
} from '../support/payments/paymentDatabase.ts'
import { after, anAttempt, noon, seconds } from '../support/payments/rows.ts'
import { simulatedMethod, terms } from '../support/payments/simulatedNode.ts'
import { fixedAccounts } from '../support/payments/fixedAccounts.ts'

let lives: PaymentDatabase
let now = noon
beforeAll(async () => {
  lives = await openPaymentDatabase()
})
afterAll(() => lives.close())
beforeEach(async () => {
  now = noon
  await lives.db.rows(sql`delete from provider_health`)
})

const clock = () => now

function node() {
  const monitors = createHealthMonitors({ clock })
  return { monitors, step: createHealthExchange(lives.db, monitors) }
}
const count = (
  { monitors }: ReturnType<typeof node>,
  what: 'unanswered' | 'paid' | 'declined',
  times: number,
) => {
  for (let n = 0; n < times; n++) monitors.account('mtn').count('wallet', { [what]: 1 })
}
const status = async () => readProviderStatus(lives.db, now)

test('nodes judge by the counts of all nodes, and the status shows them', async () => {
  const [one, other] = [node(), node()]
  count(one, 'unanswered', 3)
  count(other, 'unanswered', 3)
  expect(other.monitors.of('mtn', 'wallet')).toBe('healthy') // its own counts are too few
  await one.step()
  await other.step()
  expect(other.monitors.of('mtn', 'wallet')).toBe('down')
  expect(await status()).toMatchObject([
    { account: 'mtn', payment_method: 'wallet', health: 'down', unanswered: 6 },
  ])
})

test('counts of another node are used for a minute after its last call', async () => {
  const [one, other] = [node(), node()]
  count(one, 'unanswered', 6)
  await one.step()
  await other.step()
  now = after(seconds(59))
  expect(other.monitors.of('mtn', 'wallet')).toBe('down')
  now = after(seconds(60))
  expect(other.monitors.of('mtn', 'wallet')).toBe('healthy')
})

const writtenAt = () => lives.db.rows(sql`select written_at from provider_health`)

test('a node without new counts writes nothing', async () => {
  const one = node()
  count(one, 'paid', 1)
  await one.step()
  const before = await writtenAt()
  now = after(seconds(30))
  await one.step()
  await node().step()
  expect(await writtenAt()).toEqual(before)
})

test('a pause that the provider asks one node for applies to all nodes', async () => {
  const [one, other] = [node(), node()]
  count(one, 'unanswered', 1)
  one.monitors.account('mtn').pause(40_000)
  await one.step()
  await other.step()
  expect(other.monitors.account('mtn').whyBlocked('ask')).toMatch(/pause/)
})

test('a node that cannot write judges by its own counts, and saves them later', async () => {
  const one = node()
  count(one, 'unanswered', 6)
  await query(lives.url, 'alter table provider_health rename to elsewhere')
  await expect(one.step()).rejects.toThrow('provider_health')
  expect(one.monitors.of('mtn', 'wallet')).toBe('down')
  await query(lives.url, 'alter table elsewhere rename to provider_health')
  await one.step()
  expect(await status()).toMatchObject([{ health: 'down', unanswered: 6 }])
})

test('a quiet account shows only the times of its last successes', async () => {
  const one = node()
  count(one, 'paid', 1)
  const reply = { state: 'unknown', words: '', unknownCode: 'HELD for 0244123456' } as const
  const called = { verb: 'ask', attempt_id: 'a1', payment_method: 'wallet' } as const
  one.monitors.account('mtn').begin(called)({ reply, delayMs: 300, timeoutMs: 5000 })
  await one.step()
  expect(await status()).toMatchObject([
    {
      health: 'healthy',
      answered: 1,
      p50_ms: 500,
      p95_ms: 500,
      unknown_codes: [{ sample: 'HELD for #', count: 1 }],
    },
  ])
  now = after(seconds(3600))
  expect(await status()).toMatchObject([
    { health: 'quiet', answered: 0, p50_ms: null, paid_seconds_ago: 3600, answered_seconds_ago: 3600 },
  ])
})

test('rows older than a week are deleted', async () => {
  const one = node()
  count(one, 'paid', 1)
  await one.step()
  now = after(seconds(8 * 86_400))
  const next = node()
  count(next, 'declined', 1)
  await next.step()
  expect(await lives.db.rows(sql`select declined from provider_health`)).toEqual([{ declined: 1 }])
})

test('open attempts are counted with their account', async () => {
  const [payment] = await lives.addPayments(1, noon)
  const { merchant_id, tx_reference } = payment as NonNullable<typeof payment>
  const attempt_id = newAttemptId(merchant_id)
  const attempt = anAttempt({
    merchant_id,
    tx_reference,
    attempt_id,
    provider_account: 'paystack',
    state: 'unknown',
  })
  await lives.db.transaction(tx => insertAttempt(tx, attempt))
  expect(await status()).toMatchObject([{ account: 'paystack', health: 'quiet', open_attempts: 1 }])
  await query(lives.url, 'delete from attempts')
})

test('an account whose breaker is probing recovers by a check of its credentials', async () => {
  let isValid = false
  const providerAccount: ProviderAccount = {
    ...terms,
    mode: 'live',
    methods: [simulatedMethod],
    start: () => Promise.resolve({ state: 'unknown', words: 'HTTP 503' }),
    check: () => Promise.resolve({ state: 'unknown', words: 'HTTP 503' }),
    checkCredentials: () => Promise.resolve({ isValid, words: '' }),
  }
  let monotonic = 0
  const monitors = createHealthMonitors({ monotonicMs: () => monotonic })
  const providerAccounts = fixedAccounts(new Map([['mtn', providerAccount]]), undefined, monitors)
  const mtn = monitors.account('mtn')
  for (let n = 0; n < 5; n++) mtn.trackCall('ask', `order ${n}`)('unanswered')
  await providerAccounts.find('mtn')?.probe()
  expect(mtn.circuitState()).toBe('open') // the pause is not over
  monotonic = 5000
  await providerAccounts.find('mtn')?.probe()
  expect(mtn.circuitState()).toBe('open') // the probe failed, so it is open for longer
  monotonic = 15_000
  isValid = true
  await providerAccounts.find('mtn')?.probe()
  expect(mtn.circuitState()).toBe('closed')
})
