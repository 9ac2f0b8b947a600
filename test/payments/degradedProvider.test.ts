import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { pay } from '../../src/actions/payments/pay.ts'
import { promptPoll } from '../../src/actions/providers/callbacks.ts'
import type { ProviderAccount } from '../../src/core/provider/provider.ts'
import type { Reply } from '../../src/core/provider/reply.ts'
import { newAttemptId } from '../../src/runtime/ids.ts'
import { createHealthMonitors, type HealthMonitors } from '../../src/runtime/providers/healthMonitor.ts'
import type { PaymentDeps } from '../../src/runtime/runtime.ts'
import { sql } from '../../src/store/db.ts'
import type { Loop } from '../../src/workers/loop.ts'
import { startPolling as startLoop } from '../../src/workers/payments.ts'
import { changesOn } from '../support/gateway/runtime.ts'
import {
  insertAttempt,
  openPaymentDatabase,
  type PaymentDatabase,
} from '../support/payments/paymentDatabase.ts'
import { after, anAttempt, hours, noon, seconds, withOrderName, yes } from '../support/payments/rows.ts'
import { aPayRequest, simulatedMethod, terms } from '../support/payments/simulatedNode.ts'
import { fixedAccounts } from '../support/payments/fixedAccounts.ts'

// Two providers: one never answers, the other is healthy. The tests end deadlines themselves, so none waits for a clock.
let lives: PaymentDatabase
let shared: ReturnType<typeof changesOn>
let workers: Loop | undefined
let asked: { sick: string[]; well: string[] }
let deadlines: Set<() => void>
const now = after(hours(0.5))
const clock = () => now

beforeAll(async () => {
  lives = await openPaymentDatabase(8)
  shared = changesOn(lives.db)
})
afterAll(() => lives.close())

beforeEach(async () => {
  await lives.db.rows(sql`delete from attempts`)
  asked = { sick: [], well: [] }
  deadlines = new Set()
})

const silence = () => new Promise<Reply>(() => {})
const provider = (name: 'sick' | 'well', check: () => Promise<Reply>): [string, ProviderAccount] => [
  name,
  {
    ...terms,
    mode: 'test',
    methods: [{ ...simulatedMethod, payment_method: name }],
    start: async order => withOrderName(order, await check()),
    check: async order => (asked[name].push(order.attempt_id), withOrderName(order, await check())),
  },
]

const depsWith = (monitors?: HealthMonitors): PaymentDeps => ({
  ...shared,
  providerAccounts: fixedAccounts(
    new Map([provider('sick', silence), provider('well', () => Promise.resolve(yes))]),
    ring => (deadlines.add(ring), () => deadlines.delete(ring)),
    monitors,
  ),
  baseUrl: () => 'https://pay.example',
  timeZone: 'UTC',
  clock,
  watch() {},
  wake() {},
})

function startAsking() {
  workers = startLoop(depsWith(), error => expect(error).toBeUndefined())
}
const ringAll = () => [...deadlines].forEach(ring => ring())

afterEach(async () => {
  const ringing = setInterval(ringAll, 10)
  await workers?.stop()
  workers = undefined
  clearInterval(ringing)
})

// The first is the oldest.
async function addAttempts(name: string, count: number, next_poll_at: (at: number) => Date) {
  const payments = await lives.addPayments(count, noon)
  const attempts = payments.map(({ merchant_id, tx_reference }, at) =>
    anAttempt({
      merchant_id,
      tx_reference,
      attempt_id: newAttemptId(merchant_id),
      provider_account: name,
      state: 'pending',
      next_poll_at: next_poll_at(at),
    }),
  )
  await lives.db.transaction(async tx => {
    for (const attempt of attempts) await insertAttempt(tx, attempt)
  })
  return attempts.map(({ attempt_id }) => attempt_id)
}
const longDue = (at: number) => after(seconds(at))
const notDue = () => after(hours(1), now)

async function knock(attempt_id = '') {
  expect(await promptPoll({ ...shared, clock, wake() {} }, attempt_id)).toBe(true)
  workers?.wake()
}
const slotsFull = () => expect.poll(() => asked.sick.length).toBeGreaterThanOrEqual(50)

test('600 attempts wait for a hanging provider: a callback of another is handled', async () => {
  await addAttempts('sick', 600, longDue)
  const [paid] = await addAttempts('well', 1, notDue)
  startAsking()
  await slotsFull()
  await knock(paid)
  await expect.poll(() => asked.well).toEqual([paid])
})

test('600 attempts wait for a hanging provider: due attempts of another are polled', async () => {
  await addAttempts('sick', 600, longDue)
  const due = await addAttempts('well', 3, () => now)
  startAsking()
  await expect.poll(() => asked.well.toSorted()).toEqual(due.toSorted())
})

test('a callback of the hanging provider is polled before its backlog', async () => {
  await addAttempts('sick', 600, longDue)
  const [callback_received] = await addAttempts('sick', 1, notDue)
  startAsking()
  await slotsFull()
  await knock(callback_received)
  await expect.poll(() => asked.sick).toContain(callback_received)
})

test('polls that hang end at their deadline, so all attempts are polled', async () => {
  const all = await addAttempts('sick', 120, longDue)
  startAsking()
  await slotsFull()
  const ringing = setInterval(ringAll, 10)
  await expect.poll(() => new Set(asked.sick).size, { timeout: 20_000 }).toBe(all.length)
  clearInterval(ringing)
})

const asksOf = ([attempt_id]: string[]) =>
  lives.db.one<{ polls: number }>(sql`select polls from attempts where attempt_id = ${attempt_id}`)

test('an attempt of an account that is not open here is not polled here', async () => {
  const [ours, theirs] = [await addAttempts('well', 1, longDue), await addAttempts('gone', 1, longDue)]
  startAsking()
  await expect.poll(() => asksOf(ours)).toEqual({ polls: 1 })
  expect(await asksOf(theirs)).toEqual({ polls: 0 })
})

// Each order waits for the deadline of its call, until the breaker opens.
test('orders are no longer sent to a hanging provider, and orders of another are paid', async () => {
  const deps = depsWith(createHealthMonitors())
  const payments = await lives.addPayments(9, now)
  const ringing = setInterval(ringAll, 10)
  const statesOf = async (payment_method: string, some: typeof payments) => {
    for (const payment of some) await pay(deps, payment, aPayRequest({ payment_method }))
    return (await lives.read(some.map(({ tx_reference }) => tx_reference))).map(
      ({ attempts }) => attempts[0]?.state,
    )
  }
  expect(await statesOf('sick', payments.slice(0, 5))).toEqual(Array(5).fill('unknown'))
  clearInterval(ringing) // no deadline ends any more, so a sent order would hang
  expect(await statesOf('sick', payments.slice(5, 7))).toEqual(['not_sent', 'not_sent'])
  expect(await statesOf('well', payments.slice(7))).toEqual(['paid', 'paid'])
})
