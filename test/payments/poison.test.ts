import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { pollAttempt } from '../../src/actions/payments/callProvider.ts'
import sandbox from '../../src/providers/sandbox.ts'
import type { Reply } from '../../src/core/provider/reply.ts'
import type { Attempt } from '../../src/core/payment/attempt.ts'
import type { Payment } from '../../src/core/payment/payment.ts'
import { watchAttempts } from '../../src/observe/attempts.ts'
import { createMetrics } from '../../src/observe/metrics.ts'
import { attemptsOf } from '../../src/store/payments/attempts.ts'
import { tasksOf } from '../../src/store/payments/tasks.ts'
import { query } from '../support/database/database.ts'
import type { TestMerchant } from '../support/gateway/gateway.ts'
import { noTools } from '../support/payments/simulatedNode.ts'
import { after, minutes, noon, pending, seconds, yes } from '../support/payments/rows.ts'
import { openShop, type TestShop } from '../support/payments/shop.ts'
import { fixedAccounts } from '../support/payments/fixedAccounts.ts'

// What a provider says goes into our books, whatever bytes it is made of.
let shop: TestShop
let merchant: TestMerchant
beforeAll(async () => {
  shop = await openShop()
  shop.setNow(noon)
  merchant = await shop.addMerchant()
})
afterAll(() => shop.stop())

let customers = 0

async function started() {
  shop.setNow(noon)
  const customer = { input: { phone: `024${1_000_000 + ++customers}` }, address: `2001:db8:${customers}::1` }
  const payment = await shop.try(await shop.ask(merchant), pending, customer)
  shop.setNow(after(minutes(1)))
  return payment
}
const attemptOf = async (payment: Payment) =>
  (await attemptsOf(shop.db, payment.merchant_id, payment.tx_reference))[0] as Attempt
const tasks = ({ merchant_id, tx_reference }: Payment) => tasksOf(shop.db, merchant_id, tx_reference)

test('a reference with a NUL in it: the money is booked', async () => {
  const payment = await shop.hear(await started(), { ...yes, provider_ref: 'FT123\u0000' })
  expect(payment).toMatchObject({ status: 'paid', payment_reference: 'FT123\\u0000' })
})

for (const [name, amount] of [
  ['beyond 64 bits', 2n ** 63n],
  ['below zero', -2500n],
  ['no number of ours', 2500 as never],
  ['no number at all', Number.NaN as never],
  ['missing', undefined as never],
] as const)
  test(`a paid amount ${name} is a task for a person`, async () => {
    const payment = await shop.hear(await started(), { ...yes, amount })
    expect(payment.status).toBe('awaiting_payment')
    expect(await attemptOf(payment)).toMatchObject({ state: 'disputed' })
    expect(await tasks(payment)).toMatchObject([
      { kind: 'amount_mismatch', amount: 2500n, note: expect.stringContaining(String(amount)) },
    ])
    await shop.hear(payment, { ...yes, amount })
    expect(await tasks(payment)).toHaveLength(1)
    expect(await shop.hear(payment, yes)).toMatchObject({ status: 'paid' })
  })

test('a 502 in UTF-16: the payment stays as it was, and is asked about again', async () => {
  const page = Buffer.from('<html><h1>Bad gateway</h1></html>', 'utf16le')
  const server = createServer((_, answer) => void answer.writeHead(502).end(page))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const account = sandbox.open({ url, key: 'key' }, noTools)
  shop.setNow(noon)
  const payment = await shop.ask(merchant)
  await shop.try(payment, { state: 'unknown', words: 'HTTP 502 <\u0000h\u0000t\u0000m\u0000l\u0000' })
  shop.setNow(after(seconds(30)))
  const providerAccounts = fixedAccounts(new Map([['live_bank', account]]))
  await pollAttempt({ ...shop.runtime, providerAccounts }, await attemptOf(payment))
  server.close()
  const attempt = await attemptOf(payment)
  expect(attempt.state).toBe('unknown')
  expect(attempt.next_poll_at?.getTime()).toBeGreaterThan(after(seconds(30)).getTime())
  expect((await shop.fresh(payment)).status).toBe('awaiting_payment')
})

for (const reply of [
  undefined,
  null,
  'paid',
  7,
  {},
  { state: 'done' },
  { state: 'failed', reason: 'because' },
])
  test(`an answer that nobody understands is no answer: ${JSON.stringify(reply)}`, async () => {
    const before = await started()
    expect(await shop.hear(before, reply as never)).toEqual(before)
    expect(await attemptOf(before)).toMatchObject({ state: 'pending' })
  })

test('a database that refuses the change: a task is raised, and polling continues', async () => {
  const payment = await started()
  await query(
    shop.url,
    `create function refuse() returns trigger language plpgsql as $$ begin raise 'no room'; end $$;
     create trigger refuse before insert on events for each row execute function refuse()`,
  )
  const metrics = createMetrics()
  const watching = { ...shop.runtime, watch: watchAttempts(metrics, pino({ level: 'silent' })) }
  try {
    await expect(shop.hear(payment, yes, undefined, watching)).rejects.toThrow('no room')
    await expect(shop.hear(payment, yes, undefined, watching)).rejects.toThrow('no room')
  } finally {
    await query(shop.url, 'drop function refuse cascade')
  }
  expect(await tasks(payment)).toMatchObject([
    { kind: 'not_recorded', amount: 2500n, currency: 'GHS', note: expect.stringContaining('no room') },
  ])
  const alarms = await metrics.registry.getSingleMetricAsString('tollgate_alarms_total')
  expect(alarms).toContain('tollgate_alarms_total{kind="not_recorded"} 1')
  expect((await attemptOf(payment)).next_poll_at).not.toBeNull()
  expect(await shop.hear(payment, yes)).toMatchObject({ status: 'paid' })
})

const strange = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    'FT1\u0000',
    '\ud800',
    'a\udc00b',
    'x'.repeat(100_000),
    '\u0000'.repeat(3000),
    '',
    '\\u0000',
  ),
  fc.constantFrom(7, -1, Number.NaN, 10n ** 30n, null, undefined, true, {}, []),
)
const amounts = fc.oneof(
  { weight: 3, arbitrary: fc.constant(2500n) },
  fc.constantFrom(2n ** 63n, 2n ** 63n - 1n, -1n, 0n, 10n ** 40n),
  fc.constantFrom(2500, '2500', Number.NaN, null, undefined),
)
const replies = fc.record(
  {
    state: fc.oneof(
      { weight: 4, arbitrary: fc.constant('paid') },
      fc.constantFrom('pending', 'failed', 'unknown', 'absent', 'paid\u0000', 3, undefined),
    ),
    order: fc.oneof({ weight: 6, arbitrary: fc.constant(yes.order) }, strange),
    amount: amounts,
    currency: fc.oneof({ weight: 4, arbitrary: fc.constant('GHS') }, strange),
    reason: fc.oneof(fc.constant('declined'), strange),
    words: strange,
    provider_ref: strange,
    instrument: strange,
    card_type: strange,
    psp_response_code: strange,
    psp_response_msg: strange,
    redirect_url: strange,
    qr: strange,
  },
  { requiredKeys: ['state'] },
)

test('a provider that replies anything: every charge is recorded or has a task', {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(replies, async reply => {
      await query(shop.url, 'delete from paid_references') // the same reference twice has tests of its own
      const payment = await shop.hear(await started(), reply as Reply)
      const isOurs = reply.state === 'paid' && reply.order === yes.order
      const isExact = isOurs && reply.amount === 2500n && reply.currency === 'GHS'
      expect(payment.status === 'paid').toBe(isExact)
      if (reply.state === 'paid' && !isExact) expect(await tasks(payment)).toHaveLength(1)
    }),
    { numRuns: inject('isProof') ? 300 : 100 },
  )
})
