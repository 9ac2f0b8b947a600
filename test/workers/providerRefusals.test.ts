import { afterAll, beforeAll, expect, test } from 'vitest'
import { fixedAccounts } from '../support/payments/fixedAccounts.ts'
import { readProviderStatus } from '../../src/actions/providers/health.ts'
import { pay } from '../../src/actions/payments/pay.ts'
import type { Reply } from '../../src/core/provider/reply.ts'
import type { StatusUpdate } from '../../src/core/payment/change.ts'
import { createHealthMonitors } from '../../src/runtime/providers/healthMonitor.ts'
import { sql } from '../../src/store/db.ts'
import { createHealthExchange, saveRefusals } from '../../src/workers/providerHealth.ts'
import { type PaymentDatabase, openPaymentDatabase } from '../support/payments/paymentDatabase.ts'
import { aPayRequest, simulatedNode, simulatedMethod, terms } from '../support/payments/simulatedNode.ts'
import { pending } from '../support/payments/rows.ts'
import { randomDigits } from '../support/random.ts'

let lives: PaymentDatabase
beforeAll(async () => {
  lives = await openPaymentDatabase()
})
afterAll(() => lives.close())

const refused: Reply = {
  state: 'not_sent',
  words: 'The key 0241234567 is not taken (HTTP 401).',
  isRefusal: true,
}
const outage: Reply = { state: 'not_sent', words: 'connect ECONNREFUSED' }
const clock = () => new Date()

// A gateway whose provider gives the same reply to every order.
function node() {
  let reply: Reply = refused
  const monitors = createHealthMonitors()
  const calls = { start: () => Promise.resolve(reply), check: () => Promise.resolve(reply) }
  const account = { mode: 'test' as const, methods: [simulatedMethod], ...terms, ...calls }
  const providerAccounts = fixedAccounts(new Map([['simulated', account]]), undefined, monitors)
  const deps = { ...simulatedNode(lives.db, clock, calls), providerAccounts }
  const alarms: StatusUpdate[] = []
  const exchange = createHealthExchange(lives.db, monitors)
  return {
    replyWith: (next: Reply) => void (reply = next),
    alarms,
    monitors,
    async order() {
      const [payment] = await lives.addPayments(1, new Date())
      if (!payment) throw new Error('no payment')
      const input = { phone: `024${randomDigits(7)}` }
      await pay(deps, payment, aPayRequest({ input }))
      await exchange()
      await saveRefusals(lives.db, monitors, update => void alarms.push(update))
    },
  }
}
const tasks = () =>
  lives.db.rows<{ note: string; is_open: boolean }>(sql`
    select note, closed_at is null as is_open from tasks where kind = 'account_refused' order by created_at`)
const status = async () => (await readProviderStatus(lives.db, new Date()))[0]

test('a refused account raises one task, on all nodes together, until it is accepted again', async () => {
  const [one, other] = [node(), node()]
  for (let times = 0; times < 3; times++) await one.order()
  await other.order()
  const note = expect.stringMatching(
    /^The provider refuses the credentials of simulated: The key ••• is not|024 •••/,
  )
  expect(await tasks()).toEqual([{ note, is_open: true }])
  expect([one.alarms.length, other.alarms.length]).toEqual([1, 0])
  expect(one.alarms[0]?.tasks[0]?.kind).toBe('account_refused')
  expect(await status()).toMatchObject({
    is_refused: true,
    last_error: expect.stringContaining('(HTTP 401)'),
  })
  expect(one.monitors.account('simulated').refusal).toBeTruthy()

  other.replyWith(pending)
  await other.order()
  expect(await tasks()).toEqual([{ note, is_open: false }])
  expect(await status()).toMatchObject({ is_refused: false, last_error: null })

  one.replyWith(pending)
  await one.order()
  one.replyWith(refused)
  await one.order()
  expect((await tasks()).filter(({ is_open }) => is_open)).toHaveLength(1)
  one.replyWith(pending)
  await one.order()
})

test('an outage is no refusal: the error is shown, and no task is raised', async () => {
  const one = node()
  one.replyWith(outage)
  for (let times = 0; times < 2; times++) await one.order()
  expect((await tasks()).filter(({ is_open }) => is_open)).toEqual([])
  expect(await status()).toMatchObject({ is_refused: false, last_error: 'connect ECONNREFUSED' })
  expect(one.monitors.account('simulated').refusal).toBeFalsy()
})
