import assert from 'node:assert/strict'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { refundString } from '../../src/core/interface/signature.ts'
import type { Refund } from '../../src/core/refund/refund.ts'
import { sql } from '../../src/store/db.ts'
import { allowHolding, holdCommits, type Written } from '../support/database/holdCommits.ts'
import { type GatewayProcess, spawnGateway } from '../support/gateway/gateway.ts'
import { send, sign } from '../support/merchant/merchant.ts'
import { attemptOf, keepPaying, newCustomer } from '../support/providers/customers.ts'
import type { Moment, Stopped } from '../support/providers/holdingProxy.ts'
import {
  openSimulatedProviders,
  type SimulatedProvider,
  type SimulatedProviders,
} from '../support/providers/simulatedProviders.ts'

// kill -9 at every step of a refund: while it is stored, while its sending is stored, on its way, when the provider has made
// it, when its answer has arrived, and while that is stored. MTN takes the same refund twice, Paystack does not: there a
// second request would refund twice.
let world: SimulatedProviders
let gateway: GatewayProcess | undefined

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

const url = () => gateway?.url

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

type Subject = { provider: SimulatedProvider; attempt_id: string; invoice_id: string; refund_id: string }
let refunds = 0

// A paid payment of 25.00, to be refunded with 10.00.
async function paidPayment(provider: SimulatedProvider): Promise<Subject> {
  const customer = await newCustomer(provider, url)
  await keepPaying(world.db, customer, url)
  const attempt = await attemptOf(world.db, customer)
  const payment = await world.db.one<{ invoice_id: string }>(sql`
    select invoice_id from payments where tx_token = ${customer.tx_token}`)
  assert.ok(attempt && payment)
  return { provider, ...attempt, ...payment, refund_id: `R-${++refunds}` }
}

const paidPayments = () => Promise.all(world.providers.map(paidPayment))

// The shop requests the refund; undefined if the gateway died.
async function ask({ provider: { shop }, invoice_id, refund_id }: Subject) {
  const signed = { merchant_key: shop.merchant_key, invoice_id, refund_id, amount: '10.00' }
  const body = { ...signed, secure_hash: sign(shop.secret_key, refundString(signed)) }
  const at = url()
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  return at ? send(`${at}/v1/refunds`, init).catch(() => undefined) : undefined
}

const stopped = ({ provider }: Subject, moment: Moment): Stopped =>
  provider.proxy.stop(moment, ({ method, path }) => method === 'POST' && path === provider.paths.refund)

async function atMoment(moment: Moment) {
  const subjects = await paidPayments()
  const stops = subjects.map(subject => stopped(subject, moment))
  for (const subject of subjects) void ask(subject)
  await Promise.all(stops.map(({ reached }) => reached))
  return { subjects, stops }
}

const stored = async ({ provider: { merchant_id }, refund_id }: Subject) =>
  world.db.rows<Refund>(sql`
    select * from refunds where merchant_id = ${merchant_id} and refund_id = ${refund_id}`)

const arePolled = async (subjects: readonly Subject[]) =>
  (await Promise.all(subjects.map(stored))).flat().every(({ polls }) => polls > 0)

// What a dead gateway had sent to the database is done, and its leases run out.
async function hurry() {
  const sessions = sql`
    select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`
  await expect.poll(async () => (await world.db.rows(sessions)).length, { timeout: 20_000 }).toBe(0)
}

const makeDue = () =>
  world.db.rows(sql`
    update refunds set lease_until = null, next_poll_at = now() where next_poll_at is not null and ended_at is null`)

// A new gateway continues, and the shop repeats its request. Each refund is stored once. It succeeds if the provider has made
// it, and it was made once.
async function rise(subjects: readonly Subject[], meanwhile = async () => {}) {
  await hurry()
  await start()
  await makeDue()
  await meanwhile()
  for (const subject of subjects) expect((await ask(subject))?.http).toBe(200)
  for (const subject of subjects) {
    const madeOf = () => subject.provider.refundsOf(subject.attempt_id)
    await expect
      .poll(
        async () => {
          await makeDue()
          const [refund] = await stored(subject)
          return refund?.state === (madeOf().length > 0 ? 'succeeded' : 'unknown')
        },
        { timeout: 60_000, interval: 500 },
      )
      .toBe(true)
    expect(await stored(subject)).toHaveLength(1)
    expect(madeOf().length).toBeLessThanOrEqual(1)
    await checkRecords(subject)
  }
}

async function checkRecords({ provider: { merchant_id, name }, attempt_id, refund_id }: Subject) {
  const reversals = await world.db.rows(sql`
    select from reversals where merchant_id = ${merchant_id} and attempt_id = ${attempt_id}`)
  expect(reversals, `${name}: a refund of ours is no reversal`).toHaveLength(0)
  const sums = await world.db.one<{ refunded_amount: bigint; sum: bigint }>(sql`
    select p.refunded_amount, coalesce(sum(r.amount) filter (where r.state = 'succeeded'), 0)::bigint as sum
    from refunds r join payments p using (merchant_id, tx_reference)
    where r.merchant_id = ${merchant_id} and r.refund_id = ${refund_id} group by p.refunded_amount`)
  expect(sums?.refunded_amount).toBe(sums?.sum)
}

const made = (subjects: readonly Subject[]) =>
  subjects.map(({ provider, attempt_id }) => provider.refundsOf(attempt_id).length)

test('the request is lost with the gateway: sent again where that is safe, unknown with a task where it is not', async () => {
  const { subjects } = await atMoment('asked')
  await kill()
  await rise(subjects)
  expect(made(subjects)).toEqual([1, 0])
  const [, paystack] = subjects as [Subject, Subject]
  const tasks = () =>
    world.db.rows(sql`select kind from tasks where attempt_id = ${paystack.attempt_id} and closed_at is null`)
  const age = sql`update refunds set sent_at = sent_at - interval '5 minutes' where refund_id = ${paystack.refund_id}`
  await world.db.rows(age)
  await makeDue()
  await expect.poll(tasks, { timeout: 20_000 }).toEqual([{ kind: 'refund_unclear' }])
})

test('the request is late: it arrives when the next gateway has asked already', async () => {
  const { subjects, stops } = await atMoment('asked')
  await kill()
  await rise(subjects, async () => {
    await expect.poll(() => arePolled(subjects), { timeout: 30_000 }).toBe(true)
    await Promise.all(stops.map(({ letGo }) => letGo()))
  })
  expect(made(subjects)).toEqual([1, 1])
})

test('the provider has made it and its answer is lost', async () => {
  const { subjects } = await atMoment('taken')
  await kill()
  await rise(subjects)
  expect(made(subjects)).toEqual([1, 1])
})

test('the answer has arrived, and the gateway dies', async () => {
  const { subjects, stops } = await atMoment('taken')
  await Promise.all(stops.map(({ letGo }) => letGo()))
  await kill()
  await rise(subjects)
  expect(made(subjects)).toEqual([1, 1])
})

test('after the answer was stored', async () => {
  const subjects = await paidPayments()
  for (const subject of subjects) expect((await ask(subject))?.http).toBe(200)
  await kill()
  await rise(subjects)
  expect(made(subjects)).toEqual([1, 1])
})

for (const end of ['land', 'lose'] as const) {
  const becomes = { land: 'and it is stored nevertheless', lose: 'and nothing is stored' }[end]

  // One provider at a time, because the commits of one kind wait for the same lock.
  async function killAtCommit(what: Written, subject: Subject) {
    const held = await holdCommits(world.databaseUrl, what)
    void ask(subject)
    await held.reached()
    await kill()
    await held[end]()
  }

  for (const which of [0, 1]) {
    const name = ['MTN', 'Paystack'][which]
    const subjectOf = () => paidPayment(world.providers[which] as SimulatedProvider)

    test(`${name}: killed while the refund is stored, ${becomes}`, async () => {
      const subject = await subjectOf()
      await killAtCommit('refund_added', subject)
      expect((await stored(subject)).length).toBe(end === 'land' ? 1 : 0)
      await rise([subject])
      expect(made([subject])).toEqual([1])
    })

    test(`${name}: killed while its sending is stored, ${becomes}`, async () => {
      const subject = await subjectOf()
      await killAtCommit('refund_sending', subject)
      expect(await stored(subject)).toMatchObject([{ sends: end === 'land' ? 1 : 0 }])
      await rise([subject])
      // The sending is stored and nothing was sent: Paystack may not be asked again.
      expect(made([subject])).toEqual([which === 1 && end === 'land' ? 0 : 1])
    })

    test(`${name}: killed while the reply is stored, ${becomes}`, async () => {
      const subject = await subjectOf()
      await killAtCommit('refund_replied', subject)
      await rise([subject])
      expect(made([subject])).toEqual([1])
    })
  }
}
