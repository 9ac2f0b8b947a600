import assert from 'node:assert/strict'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import type { Moment, Stopped } from '../support/providers/holdingProxy.ts'
import { type GatewayProcess, spawnGateway } from '../support/gateway/gateway.ts'
import { allowHolding, holdCommits, type Written } from '../support/database/holdCommits.ts'
import {
  faultsIn,
  openSimulatedProviders,
  type SimulatedProvider,
  type SimulatedProviders,
} from '../support/providers/simulatedProviders.ts'
import {
  attemptOf,
  type Customer,
  keepPaying,
  ageUnsentAttempts,
  look,
  newCustomer,
  sendCode,
  sendPay,
} from '../support/providers/customers.ts'

// kill -9 at every step of an order, of a code and of a question: before it was written down, before it left, on its way,
// when the provider has taken it, when its answer is here, and while that is written down.
let world: SimulatedProviders
let gateway: GatewayProcess | undefined
const url = () => gateway?.url

beforeAll(async () => {
  world = await openSimulatedProviders()
  await allowHolding(world.databaseUrl)
})
beforeEach(async () => {
  if (!gateway) await start()
})
afterAll(async () => {
  await gateway?.kill('SIGTERM')
  await world.close()
})

async function start() {
  gateway = await spawnGateway(world.env)
  world.callbackProxy.target = gateway.url
}

async function kill() {
  const dying = gateway
  gateway = undefined
  await dying?.kill('SIGKILL')
  for (const { proxy } of world.providers) proxy.stopNoMore()
}

type Verb = 'pay' | 'submit' | 'check'
type Spot = { verb: Verb; customer: Customer; stopped: Stopped }

// Each verb at each provider, with a customer whose request stands still at that moment.
const everyVerb = (moment: Moment): Promise<Spot[]> =>
  Promise.all([
    paying(world.mtn, moment),
    paying(world.paystack, moment),
    typing(world.paystack, moment),
    asking(world.mtn, moment),
    asking(world.paystack, moment),
  ])

async function paying(provider: SimulatedProvider, moment: Moment): Promise<Spot> {
  const customer = await newCustomer(provider, url)
  const stopped = provider.proxy.stop(
    moment,
    ({ method, path, text }) =>
      method === 'POST' && path === provider.paths.order && text.includes(customer.phone.slice(1)),
  )
  void sendPay(customer, url, 1)
  await stopped.reached
  return { verb: 'pay', customer, stopped }
}

async function typing(provider: SimulatedProvider, moment: Moment): Promise<Spot> {
  const customer = await newCustomer(provider, url)
  await keepPaying(world.db, customer, url, ({ stage }) => stage === 'step')
  const { attempt_id } = await mustAttempt(customer)
  const stopped = provider.proxy.stop(
    moment,
    ({ path, text }) => path === '/charge/submit_otp' && text.includes(attempt_id),
  )
  void sendCode(customer, url, { stage: 'step', attempts: 1, submits: 0 })
  await stopped.reached
  return { verb: 'submit', customer, stopped }
}

// The customer approves, the provider calls back twice, and the gateway asks.
async function asking(provider: SimulatedProvider, moment: Moment): Promise<Spot> {
  const customer = await newCustomer(provider, url)
  const isTyped = () => provider === world.mtn || customer.typed > 0
  await keepPaying(world.db, customer, url, ({ stage }) => stage === 'wait' && isTyped())
  const { attempt_id, idempotency_key } = await mustAttempt(customer)
  await expect.poll(() => provider.isAsked(attempt_id)).toBe(true)
  const stopped = provider.proxy.stop(
    moment,
    ({ method, path }) => method === 'GET' && path === provider.paths.check + (idempotency_key ?? attempt_id),
  )
  await provider.approve(attempt_id)
  await stopped.reached
  return { verb: 'check', customer, stopped }
}

async function mustAttempt(customer: Customer) {
  const attempt = await attemptOf(world.db, customer)
  assert.ok(attempt)
  return attempt
}

// Leases run out, and what a dead gateway waited for is asked about. What it had sent to the database is done before.
async function hurry() {
  const sessions = sql`
    select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`
  await expect.poll(async () => (await world.db.rows(sessions)).length).toBe(0)
  await world.db.rows(
    sql`update attempts set lease_until = null, next_poll_at = now() where ended_at is null`,
  )
}

const asksOf = async () => {
  const rows = await world.db.rows<{ n: bigint }>(sql`
    select count(*) as n from attempts where ended_at is null and (next_poll_at <= now() or lease_until is not null)`)
  return Number(rows[0]?.n)
}

// A new gateway finds what the dead one has left; providers callback again, customers look at their pages and go on.
async function rise(spots: readonly Pick<Spot, 'customer'>[], meanwhile = async () => {}) {
  await hurry()
  await start()
  await meanwhile()
  const passing = setInterval(() => void ageUnsentAttempts(world), 5000)
  const customers = spots.map(({ customer }) => customer)
  await Promise.all(customers.map(customer => keepPaying(world.db, customer, url))).finally(() =>
    clearInterval(passing),
  )
  for (const { provider, ...customer } of customers) {
    const { attempt_id } = await mustAttempt({ provider, ...customer })
    await provider.callBack(attempt_id)
    await provider.callBack(attempt_id)
  }
  for (const provider of world.providers) assert.deepEqual(await faultsIn(world.db, provider, true), [])
}

const typedAt = (spots: readonly Spot[], verb: Verb) =>
  spots
    .filter(spot => spot.verb === verb && spot.customer.provider === world.paystack)
    .map(s => s.customer.typed)

async function attemptsOf(spots: readonly Spot[]) {
  const all = await Promise.all(spots.map(({ customer }) => look(customer, url)))
  return all.map(seen => seen?.attempts)
}

test('before the order left: while the line was opened', async () => {
  const customer = await newCustomer(world.mtn, url)
  const stopped = world.mtn.proxy.stop('asked', ({ path }) => path === '/collection/token/')
  void sendPay(customer, url, 1)
  await stopped.reached
  await kill()
  void stopped.letGo()
  await rise([{ customer }])
})

test('the request is lost with the gateway: it is sent again, and the code is asked for again', async () => {
  const spots = await everyVerb('asked')
  await kill()
  await rise(spots)
  assert.deepEqual(typedAt(spots, 'submit'), [2])
})

test('the request is late: it arrives when the next gateway has asked already', async () => {
  const spots = await everyVerb('asked')
  await kill()
  await rise(spots, async () => {
    await expect.poll(asksOf, { timeout: 30_000 }).toBe(0)
    await Promise.all(spots.map(({ stopped }) => stopped.letGo()))
  })
})

test('the provider has accepted it and its answer is lost: the customer is not asked again', async () => {
  const spots = await everyVerb('taken')
  await kill()
  await rise(spots)
  assert.deepEqual(await attemptsOf(spots), [1, 1, 1, 1, 1])
  assert.deepEqual([typedAt(spots, 'pay'), typedAt(spots, 'submit')], [[1], [1]])
})

test('the answer is here, and the gateway dies over it', async () => {
  const spots = await everyVerb('taken')
  await Promise.all(spots.map(({ stopped }) => stopped.letGo()))
  await kill()
  await rise(spots)
  assert.deepEqual(await attemptsOf(spots), [1, 1, 1, 1, 1])
  assert.deepEqual([typedAt(spots, 'pay'), typedAt(spots, 'submit')], [[1], [1]])
})

for (const end of ['land', 'lose'] as const) {
  const becomes = { land: 'and it is written after all', lose: 'and nothing is written' }[end]

  // Holds the gateway's next commit of that kind, until it is dead.
  async function killAtCommit(what: Written, send: () => unknown) {
    const held = await holdCommits(world.databaseUrl, what)
    await send()
    await held.reached()
    await kill()
    await held[end]()
  }

  test(`killed while it writes an order down, ${becomes}`, async () => {
    const customers = await Promise.all(world.providers.map(provider => newCustomer(provider, url)))
    await killAtCommit('begun', () => customers.map(customer => void sendPay(customer, url, 1)))
    const begun = await Promise.all(customers.map(customer => attemptOf(world.db, customer)))
    assert.equal(
      begun.some(attempt => attempt !== undefined),
      end === 'land',
    )
    await rise(customers.map(customer => ({ customer })))
  })

  test(`killed while it writes down that a code was typed, ${becomes}`, async () => {
    const customer = await newCustomer(world.paystack, url)
    await keepPaying(world.db, customer, url, ({ stage }) => stage === 'step')
    await killAtCommit(
      'submitted',
      () => void sendCode(customer, url, { stage: 'step', attempts: 1, submits: 0 }),
    )
    assert.equal((await mustAttempt(customer)).submits, end === 'land' ? 1 : 0)
    await rise([{ customer }])
    assert.equal(customer.typed, 2) // the provider never got the first
  })

  test(`killed while it writes an answer down, ${becomes}`, async () => {
    const spots = await everyVerb('taken')
    await killAtCommit('replied', () => Promise.all(spots.map(({ stopped }) => stopped.letGo())))
    await rise(spots)
    assert.deepEqual(await attemptsOf(spots), [1, 1, 1, 1, 1])
    assert.deepEqual([typedAt(spots, 'pay'), typedAt(spots, 'submit')], [[1], [1]])
  })
}
