import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, test } from 'vitest'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { type Credentials, onboard } from '../../src/actions/merchants/onboard.ts'
import { openDb } from '../../src/store/db.ts'
import { newMasterKey } from '../cli/tollgate.ts'
import { query } from '../support/database/database.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { operatorToken } from '../support/gateway/operatorAuth.ts'
import { type Answer, checkStatus, post, type Request, signedRequest } from '../support/merchant/merchant.ts'
import { type OwnServer, startPair, until } from '../support/database/ownServer.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/database/postgresProxy.ts'

type Server = OwnServer & { proxy: PostgresProxy }

const base = mkdtempSync(join(tmpdir(), 'tollgate-failover-'))
const asked: { request: Request; answer: Answer }[] = []
let primary: Server
let standby: Server
let gateway: TestGateway
let env: Record<string, string>
let shop: Credentials
let liveShop: Credentials

// Two real servers. The second is a copy of the first's files and follows it, and no commit is answered
// before both have it. The gateway is told of both, the standby first.
beforeAll(async () => {
  const pair = await startPair(base)
  primary = { ...pair.primary, proxy: await startPostgresProxy(pair.primary.url) }
  standby = { ...pair.standby, proxy: await startPostgresProxy(pair.standby.url) }

  const hosts = [standby, primary].map(server => new URL(server.proxy.url).host).join()
  const DATABASE_URL = `postgres://tollgate@${hosts}/tollgate?sslmode=disable`
  env = { DATABASE_URL, TOLLGATE_MASTER_KEY: newMasterKey() }
  gateway = await testGateway(env)
  const db = openDb(DATABASE_URL, 2)
  const merchant = await onboard(db, gateway.masterKeys, 'Ama Shop', ['test', 'live'], new Date())
  await setMerchant(db, merchant.merchant_id, ['rate_limit=0'])
  await db.end()
  assert.ok(merchant.test && merchant.live)
  shop = merchant.test
  liveShop = merchant.live
})
afterAll(async () => {
  await gateway.stop()
  for (const server of [primary, standby]) {
    await server.proxy.stop()
    await server.stop()
  }
  rmSync(base, { recursive: true, force: true })
})

async function initiate(request = signedRequest(shop)) {
  const answer = await post(gateway.url, request)
  asked.push({ request, answer })
  return answer
}

const initiateMany = (n: number) => Promise.all(Array.from({ length: n }, () => initiate()))

const statusOf = ({ invoice_id }: Request) =>
  checkStatus(gateway.url, { merchant_key: shop.merchant_key, invoice_id })

const referenceOf = ({ body }: Answer) => String(body.tx_reference)
const httpOf = (answers: Answer[]) => [...new Set(answers.map(answer => answer.http))]

test('a standby that is listed first is never asked, not even to read', async () => {
  await query(standby.url, 'select pg_wal_replay_pause()') // what is new is not seen there
  assert.deepEqual(httpOf(await initiateMany(100)), [200])
  await query(primary.url, cutTheGateway) // it has to choose again
  const found = await Promise.all(asked.map(one => statusOf(one.request)))
  assert.deepEqual(
    found.map(referenceOf),
    asked.map(one => referenceOf(one.answer)),
  )
  await query(standby.url, 'select pg_wal_replay_resume()')
})

const cutTheGateway = `
  select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'tollgate'`

test('the primary dies under load: the promoted standby takes over, and nothing answered is lost', async () => {
  const over = new AbortController()
  const customers = Array.from({ length: 16 }, async () => {
    while (!over.signal.aborted) await initiate()
  })
  await sleep(300)
  primary.program.signal('SIGQUIT')
  await primary.program.ended
  await query(standby.url, 'select pg_promote()')
  const promoted = new Date()
  await until('new payments are stored', () =>
    query(standby.url, 'select 1 from payments where created_at > $1', [promoted]),
  )
  over.abort()
  await Promise.all(customers)
  assert.deepEqual(httpOf(await initiateMany(100)), [200])

  const toRepeat = asked.filter(({ answer }) => answer.http !== 200)
  assert.ok(toRepeat.every(({ answer }) => answer.http === 503))
  for (const one of toRepeat) one.answer = await post(gateway.url, one.request)

  for (const { request, answer } of asked)
    assert.equal(referenceOf(await statusOf(request)), referenceOf(answer))
  const [count] = await query(standby.url, 'select count(*)::int as rows from payments')
  assert.equal(count.rows, asked.length)
})

const authorization = `Bearer ${operatorToken}`
const metrics = async () => (await fetch(`${gateway.url}/metrics`, { headers: { authorization } })).text()
const oldPrimaryReported = async () => (await metrics()).match(/^tollgate_database_old_primaries 1$/m) ?? []

// The same system identifier, a known address and a higher timeline.
test('the promoted standby is no copy: workers and live payments go on by themselves', async () => {
  const [server] = await query(
    standby.url,
    `select ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int as timeline`,
  )
  assert.equal(server.timeline, 2)
  assert.equal((await fetch(`${gateway.url}/readyz`)).status, 200)
  assert.match(await metrics(), /^tollgate_database_copy 0$/m)
  const live = await post(gateway.url, signedRequest(liveShop))
  assert.equal(live.http, 200)
  await query(
    standby.url,
    `update payments set expires_at = now() + interval '1 second' where tx_reference = '${referenceOf(live)}'`,
  )
  await until('a worker ends the expired payment', () =>
    query(standby.url, `select from payments where tx_reference = $1 and status = 'failed'`, [
      referenceOf(live),
    ]),
  )
  const second = await testGateway(env)
  assert.equal((await fetch(`${second.url}/readyz`)).status, 200) // also one that starts now
  await second.stop()
})

// It waits for no standby, as after a failover that an operator did by hand.
test('the old primary comes back and accepts writes: it gets none, and the metrics report it', async () => {
  const { url } = primary
  const [before] = await query(standby.url, 'select count(*)::int as rows from payments')
  await primary.restart('-c', 'synchronous_standby_names=')
  const [stale] = await query(url, 'select count(*)::int as rows from payments')
  const made = asked.length
  for (let round = 0; round < 10; round++) {
    await query(standby.url, cutTheGateway) // new connections try both hosts
    await initiateMany(50)
  }
  for (const one of asked.slice(made))
    if (one.answer.http !== 200) one.answer = await post(gateway.url, one.request)

  const [after] = await query(standby.url, 'select count(*)::int as rows from payments')
  assert.equal(after.rows - before.rows, 500)
  const [strays] = await query(url, 'select count(*)::int as rows from payments')
  assert.equal(strays.rows - stale.rows, 0)
  await until('the metrics report it', oldPrimaryReported)
})
