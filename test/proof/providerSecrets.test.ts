import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, test } from 'vitest'
import { sql } from '../../src/store/db.ts'
import { tollgate } from '../cli/tollgate.ts'
import { type SimulatorRequest, troubles } from '../simulators/simulator.ts'
import { mtnCredentials } from '../simulators/mtn/mtn.ts'
import { query } from '../support/database/database.ts'
import { type GatewayProcess, spawnGateway } from '../support/gateway/gateway.ts'
import { send } from '../support/merchant/merchant.ts'
import {
  code,
  openSimulatedProviders,
  paystackKey,
  type SimulatedProvider,
  type SimulatedProviders,
} from '../support/providers/simulatedProviders.ts'
import { attemptOf, type Customer, keepPaying, newCustomer, sendPay } from '../support/providers/customers.ts'
import { postForm } from '../support/checkout/stages.ts'
import { asOperator } from '../support/gateway/operatorAuth.ts'

// What providers are told stays between us and them, on the bad days, too: credentials, codes and numbers stand in no log,
// no dump, no error and no figure.
const wrong = { apiKey: 'wr0ng-c0ffee-a9b8c7d6e5f4', paystackKey: 'sk_test_wr0ng8f7e6d5c4b3a' }
const odd = { paystackKey: 'pk_test_7e6d5c4b3a2f1e0d9c8b' } // of the wrong kind
const wrongCode = '918273'

let world: SimulatedProviders
const said: Record<string, string> = {} // by where it stood
const customers: Customer[] = []
const gateways: GatewayProcess[] = []

beforeAll(async () => {
  world = await openSimulatedProviders()
  const env = trace()
  const broken = { ...env, MTN_API_KEY: wrong.apiKey, PAYSTACK_SECRET_KEY: wrong.paystackKey }
  const gone = { ...env, MTN_URL: 'http://127.0.0.1:1', PAYSTACK_URL: 'http://127.0.0.1:1' }
  await badDays(await run(env))
  for (const one of [broken, gone]) await oneOrderEach(await run(one))
  for (const [name, one] of Object.entries({ env, broken, gone, odd: { ...env, ...oddEnv } }))
    for (const args of [['list'], ['status'], ['test', 'mtn'], ['test', 'paystack'], ['status', '--json']]) {
      const { stdout, stderr } = await tollgate(one, 'provider', ...args)
      said[`${name}: provider ${args.join(' ')}`] = stdout + stderr
    }
  for (const [at, gateway] of gateways.entries()) {
    said[`metrics ${at}`] = (await send(`${gateway.url}/metrics`, { headers: asOperator })).text
    await gateway.kill('SIGTERM')
    said[`logs ${at}`] = gateway.output()
  }
  await dump()
}, 240_000)
afterAll(async () => {
  for (const gateway of gateways) await gateway.kill('SIGKILL')
  await world.close()
})

const oddEnv = { PAYSTACK_SECRET_KEY: odd.paystackKey }

// There are many of them at once, and one server has connections for all.
const trace = () => ({ ...world.env, LOG_LEVEL: 'trace', TOLLGATE_POOL_SIZE: '3' })

async function run(env: Record<string, string>) {
  const gateway = await spawnGateway(env)
  gateways.push(gateway)
  world.callbackProxy.target = gateway.url
  return () => gateway.url
}

async function come(provider: SimulatedProvider, url: () => string) {
  const customer = await newCustomer(provider, url)
  customers.push(customer)
  return customer
}

async function oneOrderEach(url: () => string) {
  for (const provider of world.providers) await sendPay(await come(provider, url), url, 1)
}

const heardOf = async (customer: Customer) => {
  const attempt = await attemptOf(world.db, customer)
  return attempt?.state !== 'started'
}

const allHeardOf = async () => (await Promise.all(customers.map(heardOf))).every(Boolean)

async function until(holds: () => Promise<boolean>) {
  while (!(await holds())) await sleep(100)
}

async function badDays(url: () => string) {
  await wordsOfTheirs(url)
  await wrongThenRight(url)
  await troublesOfTheLine()
  await until(allHeardOf)
}

async function wrongThenRight(url: () => string) {
  const customer = await come(world.paystack, url)
  await keepPaying(world.db, customer, url, ({ stage }) => stage === 'step')
  const typed = { number: '1', submits: '0', otp: wrongCode }
  await postForm(`${url()}/checkout/${customer.tx_token}/step`, typed)
  await keepPaying(world.db, customer, url)
}

// Each at an order that was taken, and at the questions that follow it. Whoever has met several leaves the provider alone
// for a while, so for each there is another gateway.
async function troublesOfTheLine() {
  for (const trouble of troubles) {
    const url = await run(trace())
    for (const provider of world.providers) {
      const simulator = provider === world.mtn ? world.simulators.mtn : world.simulators.paystack
      const customer = await come(provider, url)
      simulator.weather = { trouble, hasTaken: true, times: 1, at: provider.paths.order }
      await sendPay(customer, url, 1)
      if (trouble !== 'silence') await until(() => heardOf(customer))
      simulator.weather = { trouble, times: 1, at: provider.paths.check }
    }
    await hurry()
  }
}

// What a gateway holds in this moment is asked about anyway.
const hurry = () =>
  world.db.rows(sql`
    update attempts set next_poll_at = now() where attempt_id in (
      select attempt_id from attempts where ended_at is null for update skip locked)`)

// Providers who repeat what they were told, and webhooks of nobody.
async function wordsOfTheirs(url: () => string) {
  const { mtn, paystack } = world.simulators
  const [one, two] = [await come(world.mtn, url), await come(world.mtn, url)]
  const number = `233${one.phone.slice(1)}`
  const message = `Payer ${number} of ${mtnCredentials.apiUser}:${mtnCredentials.apiKey}`
  mtn.rule({
    number,
    story: { submit: { status: 500, body: { code: 'INTERNAL_PROCESSING_ERROR', message } } },
  })
  await sendPay(one, url, 1)
  mtn.rule({ number: `233${two.phone.slice(1)}`, story: { told: { status: `HELD ${two.phone}` } } })
  await sendPay(two, url, 1)
  const three = await come(world.paystack, url)
  await keepPaying(world.db, three, url, ({ stage }) => stage === 'wait' && three.typed > 0)
  const { attempt_id: key = '' } = (await attemptOf(world.db, three)) ?? {}
  for (const kind of ['forged', 'unsigned', 'altered'] as const)
    await paystack.hook({ idempotency_key: key, kind })
  paystack.decline({ idempotency_key: key, says: 'Transaction declined by the customer' })
  await paystack.hook({ idempotency_key: key })
  await hurry()
}

// Every row of every table. A number stands where the payment method keeps it, and nowhere else.
async function dump() {
  const tables = await query(world.databaseUrl, `select tablename from pg_tables where schemaname = 'public'`)
  for (const { tablename } of tables) {
    const rows = await query(
      world.databaseUrl,
      `select (to_jsonb(t) - array['instrument', 'given'])::text as row from "${tablename}" t`,
    )
    if (rows.length > 0) said[`table ${tablename}`] = rows.map(({ row }) => row as string).join('\n')
  }
}

// As they travel: MTN's tokens among them.
const travelled = () =>
  [...world.simulators.mtn.asked, ...world.simulators.paystack.asked].flatMap(
    ({ headers }: SimulatorRequest) => (headers.authorization ?? '').split(' ').slice(1),
  )

const secrets = () => [
  ...new Set([
    mtnCredentials.subscriptionKey,
    mtnCredentials.apiKey,
    paystackKey,
    ...Object.values(wrong),
    ...Object.values(odd),
    ...travelled(),
  ]),
]

const spellings = (secret: string) => [
  secret,
  Buffer.from(secret).toString('hex'),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  encodeURIComponent(secret),
]

const found = (words: readonly string[]) =>
  Object.entries(said).flatMap(([where, text]) =>
    words.filter(word => text.includes(word)).map(word => `${where}: ${word}`),
  )

test('there was something to be found', async () => {
  assert.ok(secrets().length > 8)
  assert.ok(Object.keys(said).length > 20 && Object.values(said).every(text => text.length > 0))
  const unclear = await world.db.rows(sql`select from events where kind = 'attempt_unknown'`)
  assert.ok(unclear.length > troubles.length)
})

test('credentials and tokens stand nowhere, in no spelling', () => {
  assert.deepEqual(found(secrets().flatMap(spellings)), [])
})

test('codes that customers typed stand nowhere', () => {
  assert.deepEqual(found([code, wrongCode]), [])
})

test('numbers stand nowhere but where the payment method keeps them', () => {
  const numbers = customers.flatMap(({ phone }) => [
    phone.slice(1),
    `${phone.slice(1, 3)} ${phone.slice(3, 6)} `,
  ])
  assert.deepEqual(found(numbers), [])
})
