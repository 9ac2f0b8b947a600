import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { pollDue } from '../../src/actions/providers/pollDue.ts'
import { confirmBusiness } from '../../src/actions/providers/confirmBusiness.ts'
import { createOverdueWatch } from '../../src/actions/providers/overdueAttempts.ts'
import { initiate } from '../../src/actions/interface/initiate.ts'
import { onboard } from '../../src/actions/merchants/onboard.ts'
import { pollAttempt, startAttempt } from '../../src/actions/payments/callProvider.ts'
import { openCheckout } from '../../src/actions/payments/openCheckout.ts'
import { pay } from '../../src/actions/payments/pay.ts'
import type { Mode } from '../../src/core/mode.ts'
import type { Attempt } from '../../src/core/payment/attempt.ts'
import { type OpenProviderAccounts, openProviderAccounts } from '../../src/runtime/providerAccounts.ts'
import type { Runtime } from '../../src/runtime/runtime.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import { attemptsOf } from '../../src/store/payments/attempts.ts'
import { promptReversalCheck } from '../../src/store/payments/callbacks.ts'
import { findPayment } from '../../src/store/payments/paymentLife.ts'
import { tasksOf } from '../../src/store/payments/tasks.ts'
import {
  type ExampleProvider,
  exampleProviderFolder,
  exampleTools,
  openExampleProvider,
} from '../support/providers/exampleProvider.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import type { TestMerchant } from '../support/gateway/gateway.ts'
import { aPayRequest } from '../support/payments/simulatedNode.ts'
import { signedRequest } from '../support/merchant/merchant.ts'
import { testRuntime } from '../support/gateway/runtime.ts'
import { randomDigits } from '../support/random.ts'

// One account from environment variables, called acme. A restart with other variables puts another account behind the
// same name.
const masterKeys = givenMasterKeys([randomBytes(32)])
const folder = exampleProviderFolder()
let database: FreshDatabase
let db: Db
let acme: ExampleProvider
let merchant: TestMerchant
beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 4)
  acme = await openExampleProvider('live_first', 'live_second', 'live_other', 'test_first')
  merchant = (await onboard(db, masterKeys, 'Ama Shop', ['test', 'live'], new Date())) as TestMerchant
})
afterAll(async () => {
  await acme.close()
  await db.end()
  await database.drop()
})
beforeEach(async () => {
  acme.says(() => ({ state: 'pending' }))
  acme.asked.length = 0
  await db.rows(sql`delete from provider_businesses`)
  await db.rows(sql`update attempts set state = 'failed', next_poll_at = null`)
})

const openNode = async (key: string): Promise<Runtime & { providerAccounts: OpenProviderAccounts }> => {
  const env = { ACME_URL: acme.url, ACME_KEY: key }
  const providerAccounts = await openProviderAccounts({
    env,
    tools: exampleTools,
    folder,
    stored: { db, masterKeys },
  })
  return { ...testRuntime({ db, masterKeys, providerAccounts }), providerAccounts }
}

async function open(node: Runtime, mode: Mode) {
  const { stored } = await initiate(node, signedRequest(merchant[mode]), 'api', '127.0.0.1')
  const checkout = await openCheckout(node, (await findPayment(db, stored))?.tx_token ?? '')
  if (!checkout) throw new Error('there is no page')
  return checkout
}
type Key = { merchant_id: string; tx_reference: string }
const lastAttempt = async ({ merchant_id, tx_reference }: Key) =>
  (await attemptsOf(db, merchant_id, tx_reference)).at(-1) as Attempt
const tasks = async ({ merchant_id, tx_reference }: Key) =>
  (await tasksOf(db, merchant_id, tx_reference)).map(({ kind, closed_at }) => [kind, closed_at !== null])

async function begin(node: Runtime, mode: Mode = 'live') {
  const payment = await open(node, mode)
  expect(await pay(node, payment, aPayRequest({ input: { phone: `024${randomDigits(7)}` } }))).toEqual({
    done: 'started',
  })
  return payment
}
const paid = (order: string) => ({
  state: 'paid',
  order,
  amount: '2500',
  currency: 'GHS',
  provider_ref: order,
})
const later = (ms: number) => () => new Date(Date.now() + ms)

for (const [what, mode, before, after] of [
  ['a live key in the place of a test key', 'test', 'test_first', 'live_first'],
  ["another business's key", 'live', 'live_first', 'live_other'],
] as const)
  test(`${what} neither asks about an attempt nor sends it again, and a task says so`, async () => {
    const first = await openNode(before)
    acme.says(() => ({ state: 'absent' }))
    const payment = await begin(first, mode) // the provider does not know it, so it may be sent again
    const node = await openNode(after)
    acme.asked.length = 0
    await pollAttempt(node, await lastAttempt(payment))
    expect(acme.asked).toEqual([])
    expect((await lastAttempt(payment)).ended_at).toBeNull()
    expect(await tasks(payment)).toEqual([['not_set_up', false]])
    // Due, it is not claimed there; the node that has the account asks.
    await pollDue({ ...node, clock: later(20_000) }, fail)
    expect(acme.asked).toEqual([])
    acme.says(paid)
    await pollDue({ ...(await openNode(before)), clock: later(60_000) }, fail)
    expect((await lastAttempt(payment)).state).toBe('paid')
  })

const fail = (error: unknown) => expect(error).toBeUndefined()

test('an order is not sent where the account changed after it was chosen', async () => {
  const first = await openNode('live_first')
  const payment = await begin(first)
  const attempt = await lastAttempt(payment)
  const node = await openNode('live_other')
  acme.asked.length = 0
  await startAttempt(node, { ...payment, status: 'awaiting_payment' }, { ...attempt, state: 'started' })
  expect(acme.asked).toEqual([])
})

test('the identity is the business and the environment, and has no credential', async () => {
  const [one, other] = await Promise.all([openNode('live_first'), openNode('live_first')])
  const identities = [one, other].map(({ providerAccounts }) => providerAccounts.identityOf('acme'))
  expect(identities[0]).toMatch(/^acme live [0-9a-z]{16}$/)
  expect(identities[1]).toBe(identities[0])
  expect((await openNode('live_other')).providerAccounts.identityOf('acme')).not.toBe(identities[0])
  expect((await openNode('live_first')).providerAccounts.identityOf('acme')).toBe(identities[0])
  const rows = JSON.stringify(
    await db.rows(sql`select account, credentials_digest, business from provider_businesses`),
  )
  for (const key of ['live_first', 'live_other']) expect(rows).not.toContain(key)
})

test('confirmed to be the same business, all attempts go on: from before, and from between', async () => {
  const before = await begin(await openNode('live_first'))
  const node = await openNode('live_second')
  const between = await begin(node)
  await pollAttempt(node, await lastAttempt(before))
  expect(await tasks(before)).toEqual([['not_set_up', false]])
  const [digest = ''] = node.providerAccounts.accounts().map(({ credentialsDigest }) => credentialsDigest)
  const credentials = { account: 'acme', credentialsDigest: digest, scope: 'acme live' }
  const said = await confirmBusiness(db, credentials, new Date())
  expect(said).toMatchObject({ done: 'confirmed', attempts: 1 })
  expect(await tasks(before)).toEqual([['not_set_up', true]])
  await node.providerAccounts.refresh()
  acme.says(paid)
  for (const payment of [before, between]) {
    await pollAttempt(node, await lastAttempt(payment))
    expect((await lastAttempt(payment)).state).toBe('paid')
  }
  expect(node.providerAccounts.identityOf('acme')).toBe(
    (await openNode('live_first')).providerAccounts.identityOf('acme'),
  )
})

test('a refund of a paid attempt is read after its business was confirmed, though no attempt is open', async () => {
  acme.says(paid)
  const payment = await begin(await openNode('live_first'))
  const attempt = await lastAttempt(payment)
  expect(attempt.state).toBe('paid')
  const node = await openNode('live_second')
  await promptReversalCheck(db, attempt, new Date()) // as a webhook does
  await pollDue({ ...node, clock: later(1000) }, fail)
  const watch = createOverdueWatch({ ...node, clock: later(90_000) })
  await watch.look()
  await watch.look()
  expect(await tasks(payment)).toEqual([['not_set_up', false]])
  const [digest = ''] = node.providerAccounts.accounts().map(({ credentialsDigest }) => credentialsDigest)
  const credentials = { account: 'acme', credentialsDigest: digest, scope: 'acme live' }
  expect(await confirmBusiness(db, credentials, new Date())).toEqual({ done: 'confirmed', attempts: 0 })
  expect(await confirmBusiness(db, credentials, new Date())).toEqual({ done: 'nothing' })
  expect(await tasks(payment)).toEqual([['not_set_up', true]])
  await node.providerAccounts.refresh()
  acme.asked.length = 0
  await pollDue({ ...node, clock: later(1000) }, fail)
  expect(acme.asked.map(({ key }) => key)).toEqual(['live_second'])
})

test('attempts of an older version, without an identity, go by the name', async () => {
  const payment = await begin(await openNode('live_first'))
  await db.rows(sql`
    update attempts set account_identity = null, mode = null where tx_reference = ${payment.tx_reference}`)
  acme.says(paid)
  await pollAttempt(await openNode('live_second'), await lastAttempt(payment))
  expect((await lastAttempt(payment)).state).toBe('paid')
})

test('a database that cannot be read gives no identity: the node does not start', async () => {
  const own = openDb(database.url, 1)
  await own.end()
  const env = { ACME_URL: acme.url, ACME_KEY: 'live_first' }
  const options = { env, tools: exampleTools, folder, stored: { db: own, masterKeys } }
  await expect(openProviderAccounts(options)).rejects.toThrow()
})

test('an attempt that waits for its account raises a task within two minutes, and is not consumed', async () => {
  const payment = await begin(await openNode('live_first'))
  const node = await openNode('live_other')
  const watch = createOverdueWatch({ ...node, clock: later(90_000) })
  const before = await lastAttempt(payment)
  await watch.look()
  expect(await tasks(payment)).toEqual([])
  await watch.look()
  expect(await tasks(payment)).toEqual([['not_set_up', false]])
  expect(watch.waiting()).toEqual([{ account: 'acme', attempts: 1 }])
  const after = await lastAttempt(payment)
  expect([after.polls, after.next_poll_at]).toEqual([before.polls, before.next_poll_at])
})

test('a node without the account waits ten minutes for a node that has it, and then raises a task', async () => {
  const payment = await begin(await openNode('live_first'))
  const providerAccounts = await openProviderAccounts({
    env: {},
    tools: exampleTools,
    folder,
    stored: { db, masterKeys },
  })
  const node = testRuntime({ db, masterKeys, providerAccounts })
  for (const [ms, raised] of [
    [9 * 60_000, 0],
    [11 * 60_000, 1],
  ] as const) {
    const watch = createOverdueWatch({ ...node, clock: later(ms) })
    await watch.look()
    await watch.look()
    expect(await tasks(payment)).toHaveLength(raised)
  }
})

test('an order that never left ends, although its account is gone', async () => {
  const payment = await begin(await openNode('live_first'))
  await db.rows(sql`update attempts set state = 'not_sent', acknowledged_at = null
    where tx_reference = ${payment.tx_reference}`)
  const node = await openNode('live_other')
  acme.asked.length = 0
  const watch = createOverdueWatch({ ...node, clock: later(90_000) })
  await watch.look()
  await watch.look()
  expect(acme.asked).toEqual([])
  expect(await lastAttempt(payment)).toMatchObject({ state: 'failed', reason: 'not_sent' })
})
