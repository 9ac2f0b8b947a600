import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkWorkers } from '../../src/cli/doctor/checkWork.ts'
import { sql } from '../../src/store/db.ts'
import { type FreshDatabase, migratedDatabase } from '../support/database/database.ts'
import { type TestGateway, type TestMerchant, testGateway } from '../support/gateway/gateway.ts'
import { asOperator } from '../support/gateway/operatorAuth.ts'
import { post, send, signedRequest } from '../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'
import { postForm, wallet } from '../support/checkout/stages.ts'

let database: FreshDatabase
let receiver: Receiver
let web: TestGateway
let worker: TestGateway | undefined
let merchant: TestMerchant

const env = {
  TOLLGATE_MASTER_KEY: randomBytes(32).toString('hex'),
  TOLLGATE_EGRESS_LOOPBACK: 'on',
}
const start = (more: Record<string, string>) =>
  testGateway({ ...env, ...more }, { sandboxPace: 0.01 }, { url: database.url, drop: async () => {} })
const startWorker = () => start({ TOLLGATE_ROLE: 'worker', TOLLGATE_BASE_URL: web.url })

beforeAll(async () => {
  database = await migratedDatabase()
  receiver = await openReceiver()
  web = await start({ TOLLGATE_ROLE: 'web' })
  merchant = await web.addMerchant()
})
afterAll(async () => {
  await worker?.stop()
  await web.stop()
  await receiver.close()
  await database.drop()
})

async function pay() {
  const request = signedRequest(merchant.test, { total: '25.00', ipn_url: `${receiver.url}/ipn` })
  const { body } = await post(web.url, request)
  await postForm(`${body.checkout_url}/pay`, { number: '1', ...wallet('0240000000') })
  return body.tx_reference as string
}
const statuses = () => receiver.received.map(({ body }) => JSON.parse(body))
const isNotified = (tx_reference: string) =>
  statuses().some(one => one.tx_reference === tx_reference && one.status === 'paid')
const get = (node: TestGateway, path: string, init?: RequestInit) => send(`${node.url}${path}`, init)
const metrics = async (node: TestGateway) => (await get(node, '/metrics', { headers: asOperator })).text
const soon = { timeout: 30_000 }

test('a web node takes payments and sends nothing; a worker that starts later does all that waits', async () => {
  const paid = await pay()
  const cancelled = (await post(web.url, signedRequest(merchant.test, { ipn_url: `${receiver.url}/ipn` })))
    .body
  expect((await postForm(`${cancelled.checkout_url}/cancel`, {})).http).toBeLessThan(400)
  const waiting = sql`select tries from deliveries where lease_token is null`
  await expect.poll(async () => (await web.db.rows(waiting)).length, soon).toBeGreaterThan(0)
  expect(await web.db.rows(sql`select from deliveries where tries > 0`)).toEqual([])
  expect(receiver.received).toEqual([])
  worker = await startWorker()
  await expect.poll(() => isNotified(paid), soon).toBe(true)
  await expect.poll(() => receiver.of(cancelled.tx_reference).length, soon).toBeGreaterThan(0)
})

test('the commit of a web node wakes the workers of the other node', async () => {
  const paid = await pay()
  await expect.poll(() => isNotified(paid), soon).toBe(true)
})

test('a worker serves health checks and metrics only', async () => {
  const node = worker as TestGateway
  expect(await get(node, '/healthz')).toMatchObject({ http: 200, text: 'ok' })
  expect(await get(node, '/readyz')).toMatchObject({ http: 200, text: 'ready: worker' })
  expect(await get(web, '/readyz')).toMatchObject({ http: 200, text: 'ready: web' })
  for (const path of [
    '/',
    '/dashboard',
    '/docs',
    '/support',
    '/openapi.json',
    '/sandbox/phone',
    '/checkout/x',
  ])
    expect((await get(node, path)).http, path).toBe(404)
  const refused = await post(node.url, signedRequest(merchant.test, {}))
  expect([refused.http, refused.text]).toEqual([404, expect.stringContaining('TOLLGATE_ROLE=worker')])
  expect((await get(node, '/metrics')).http).toBe(403)
})

test('the metrics count nodes by role, and a web node has only the workers of its own that could hang', async () => {
  await expect.poll(() => metrics(web), soon).toContain('tollgate_nodes_by_role{role="worker"} 1')
  expect(await metrics(web)).toContain('tollgate_nodes_by_role{role="web"} 1')
  const workersOf = async (node: TestGateway) =>
    [...(await metrics(node)).matchAll(/^tollgate_worker_seconds\{worker="(\w+)"\}/gm)].map(
      ([, name]) => name,
    )
  const ofWeb = await workersOf(web)
  const ofWorker = await workersOf(worker as TestGateway)
  for (const name of ['node', 'nodeHeartbeat', 'requestLog', 'providerHealth']) expect(ofWeb).toContain(name)
  for (const name of ['deliveries', 'sms', 'attempts', 'expiry', 'ledger', 'overdueAttempts']) {
    expect(ofWeb).not.toContain(name)
    expect(ofWorker).toContain(name)
  }
})

test('doctor counts the roles, and fails if no node with workers was seen for a minute', async () => {
  expect(await checkWorkers(web.db)).toMatchObject({ state: 'ok', fact: 'nodes by role: 1 web, 1 worker' })
  await worker?.stop()
  worker = undefined
  expect(await checkWorkers(web.db)).toMatchObject({ state: 'ok' }) // the web node is younger than a minute
  await web.db.rows(sql`update nodes set started_at = started_at - interval '2 minutes'`)
  expect(await checkWorkers(web.db)).toMatchObject({
    state: 'failed',
    fact: expect.stringContaining('no node'),
  })
})
