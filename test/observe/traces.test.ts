import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { onboard } from '../../src/actions/merchants/onboard.ts'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { openDb } from '../../src/store/db.ts'
import { type FreshDatabase, migratedDatabase, query } from '../support/database/database.ts'
import { type Credentials, type GatewayProcess, spawnGateway } from '../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'
import { advance } from '../support/merchant/testTools.ts'

// Gateways that send their traces to a collector, with an SDK as an operator loads it.

type Value = { stringValue?: string; intValue?: string | number }
type SentSpan = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  attributes: { key: string; value: Value }[]
  links?: { traceId: string; spanId: string }[]
}

const masterKey = randomBytes(32)
const phone = '0240000000'
const started: GatewayProcess[] = []
let database: FreshDatabase
let collector: Receiver
let shopSite: Receiver
let shop: Credentials

const spans = () =>
  collector.received.flatMap(({ body }) =>
    (JSON.parse(body).resourceSpans as { scopeSpans: { spans: SentSpan[] }[] }[]).flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap(one => one.spans),
    ),
  )

async function start(env: Record<string, string> = {}) {
  const gateway = await spawnGateway({
    DATABASE_URL: database.url,
    TOLLGATE_MASTER_KEY: masterKey.toString('hex'),
    TOLLGATE_EGRESS_LOOPBACK: 'on',
    NODE_OPTIONS: '--import=./deploy/opentelemetry/tracing.mjs',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    ...env,
  })
  started.push(gateway)
  return gateway
}

beforeAll(async () => {
  collector = await openReceiver((_, response) => void response.writeHead(200).end('{}'))
  shopSite = await openReceiver((_, response) => void response.writeHead(500).end())
  database = await migratedDatabase()
  const db = openDb(database.url, 2)
  const merchant = await onboard(db, givenMasterKeys([masterKey]), 'Ama Shop', ['test'], new Date())
  await setMerchant(db, merchant.merchant_id, [`ipn_url=${shopSite.url}/ipn?secret=ipn-query`])
  await db.end()
  assert.ok(merchant.test)
  shop = merchant.test
})
afterAll(async () => {
  for (const { child, kill } of started) if (child.exitCode === null) await kill('SIGKILL')
  await shopSite.close()
  await collector.close()
  await database.drop()
})

const traced = (traceId: string, name: string) =>
  spans().filter(span => span.traceId === traceId && span.name.startsWith(name))
const anySpan = (name: string) => spans().find(span => span.name.startsWith(name))

async function waitFor<T>(find: () => T | undefined): Promise<T> {
  for (let tries = 0; tries < 1200; tries++) {
    const found = find()
    if (found !== undefined) return found
    await sleep(50)
  }
  throw new Error(`Not found in ${JSON.stringify(spans().map(({ name, traceId }) => [traceId, name]))}`)
}

const form = (fields: Record<string, string>) => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
})

const stranger = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) }
let checkout = ''

test('one trace from the payment request to the last notification, over three processes', async () => {
  const first = await start()
  const request = { ...signedRequest(shop), email: 'ama@mail.example', name: 'Ama Mensah' }
  const { body } = await send(`${first.url}/v1/mobile_agents_v2`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      traceparent: `00-${stranger.traceId}-${stranger.spanId}-01`,
    },
    body: JSON.stringify(request),
  })
  const root = await waitFor(() => anySpan('POST /v1/mobile_agents_v2'))
  await first.kill('SIGKILL')

  const second = await start()
  checkout = new URL(body.checkout_url).pathname
  await send(`${second.url}${checkout}`)
  const fields = { number: '1', payment_method: 'mtn_mobile_money', 'mtn_mobile_money.phone': phone }
  await send(`${second.url}${checkout}/pay`, form(fields))
  await waitFor(() => traced(root.traceId, 'notification')[0])
  await second.kill('SIGKILL')

  const third = await start()
  shopSite.answerWith((_, response) => void response.end('ok'))
  await advance(third.url, shop, '1h')
  await waitFor(() =>
    traced(root.traceId, 'notification').find(one => attribute(one, 'resend_count') === '1'),
  )
  await third.kill('SIGTERM')

  const names = new Set(traced(root.traceId, '').map(({ name }) => name))
  for (const name of [
    'POST /v1/mobile_agents_v2',
    'postgresql insert_payments',
    'GET /checkout/:token',
    'POST /checkout/:token/pay',
    'attempt start',
    'provider start',
    'postgresql transaction',
    'attempt poll',
    'provider ask',
    'notification POST',
  ])
    expect(names).toContain(name)
  assert.ok(
    [...names].some(name => name.startsWith('POST /callbacks/')),
    [...names].join(),
  )
  expect(root.parentSpanId ?? '').toBe('')
  const ids = new Set(traced(root.traceId, '').map(({ spanId }) => spanId))
  for (const { name, parentSpanId } of traced(root.traceId, ''))
    if (parentSpanId) assert.ok(ids.has(parentSpanId), `the parent of ${name} was not sent`)
})

const attribute = ({ attributes }: SentSpan, name: string) => {
  const value = attributes.find(({ key }) => key.endsWith(name))?.value
  return value && String(value.stringValue ?? value.intValue)
}

test('what a client sends as its trace is a link and never the trace', () => {
  const root = spans().find(({ name }) => name === 'POST /v1/mobile_agents_v2')
  expect(root?.links?.map(({ traceId, spanId }) => ({ traceId, spanId }))).toEqual([stranger])
  expect(spans().filter(({ traceId }) => traceId === stranger.traceId)).toEqual([])
})

test('neither shops nor providers get the trace, and spans have no personal data and no secret', async () => {
  expect(shopSite.received.filter(({ headers }) => headers.traceparent)).toEqual([])
  const sent = JSON.stringify(spans())
  const token = checkout.split('/').at(-1) as string
  const attempts = await query(database.url, 'select attempt_id from attempts')
  for (const secret of [
    token,
    attempts[0].attempt_id,
    phone.slice(1),
    'ama@mail.example',
    'Mensah',
    shop.merchant_key,
    shop.secret_key,
    'ipn-query',
  ])
    expect(sent).not.toContain(secret)
})

test('a payment that the sampler leaves out has no trace for other nodes to continue', async () => {
  const first = await start({ OTEL_TRACES_SAMPLER: 'always_off' })
  const { body } = await post(first.url, signedRequest(shop))
  await first.kill('SIGTERM')
  const [stored] = await query(
    database.url,
    `select traceparent from payments where tx_reference = '${body.tx_reference}'`,
  )
  expect(stored.traceparent).toBeNull()
})
