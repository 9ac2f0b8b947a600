import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, test } from 'vitest'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { type Credentials, onboard } from '../../src/actions/merchants/onboard.ts'
import { type ChildProgram, here, run } from '../../src/postgres/childProcess.ts'
import { startEmbedded } from '../../src/postgres/embedded.ts'
import { openDataFolder } from '../../src/postgres/dataFolder.ts'
import { stopProgram } from '../../src/postgres/server.ts'
import { openDb } from '../../src/store/db.ts'
import { query } from '../support/database/database.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { operatorToken } from '../support/gateway/operatorAuth.ts'
import { type Answer, checkStatus, post, type Request, signedRequest } from '../support/merchant/merchant.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/database/postgresProxy.ts'

type Server = { program: ChildProgram; sockets: string; url: string; proxy: PostgresProxy }

const base = mkdtempSync(join(tmpdir(), 'tollgate-failover-'))
const asked: { request: Request; answer: Answer }[] = []
let primary: Server
let standby: Server
let gateway: TestGateway
let shop: Credentials

// Two real servers. The second is a copy of the first's files and follows it, and no commit is answered
// before both have it. The gateway is told of both, the standby first.
beforeAll(async () => {
  const [one, other] = [join(base, 'one'), join(base, 'other')]
  await (await startEmbedded(one, 'command')).stop()
  // The rules of an operator's own: this is his cluster, and the standby comes by the socket of the primary.
  writeFileSync(join(one, 'postgres', 'pg_hba.conf'), 'local all all trust\nlocal replication all trust\n')
  execFileSync('cp', ['-a', one, other])
  primary = await startServer(one)
  writeFileSync(join(other, 'postgres', 'standby.signal'), '')
  const follow = `primary_conninfo = 'host=${primary.sockets} port=5432 user=tollgate'\n`
  appendFileSync(join(other, 'postgres', 'postgresql.auto.conf'), follow)
  standby = await startServer(other)
  await query(primary.url, `alter system set synchronous_standby_names = '*'`)
  await query(primary.url, 'select pg_reload_conf()')

  const hosts = [standby, primary].map(server => new URL(server.proxy.url).host).join()
  const DATABASE_URL = `postgres://tollgate@${hosts}/tollgate?sslmode=disable`
  gateway = await testGateway({ DATABASE_URL })
  const db = openDb(DATABASE_URL, 2)
  const merchant = await onboard(db, gateway.masterKeys, 'Ama Shop', ['test'], new Date())
  await setMerchant(db, merchant.merchant_id, ['rate_limit=0'])
  await db.end()
  assert.ok(merchant.test)
  shop = merchant.test
})
afterAll(async () => {
  await gateway.stop()
  for (const { program, proxy, sockets } of [primary, standby]) {
    await proxy.stop()
    await stopProgram(program, 0)
    rmSync(sockets, { recursive: true, force: true })
  }
  rmSync(base, { recursive: true, force: true })
})

async function startServer(dataDir: string): Promise<Server> {
  const home = openDataFolder(dataDir)
  const sockets = mkdtempSync('/tmp/tollgate-')
  if (home.runAs) chownSync(sockets, home.runAs.uid, home.runAs.gid)
  const url = `postgres://tollgate@/tollgate?host=${encodeURIComponent(sockets)}&port=5432&sslmode=disable`
  const program = await runServer(dataDir, sockets, url)
  return { program, sockets, url, proxy: await startPostgresProxy(url) }
}

async function runServer(dataDir: string, sockets: string, url: string, ...settings: string[]) {
  const home = openDataFolder(dataDir)
  const args = ['-D', here, '-k', sockets, '-c', 'listen_addresses=', ...settings]
  const program = run(home, 'postgres', home.cluster, args)
  await until('the server answers', () => query(url, 'select 1'))
  return program
}

async function until(what: string, ask: () => Promise<unknown[]>) {
  for (const deadline = performance.now() + 20_000; performance.now() < deadline; await sleep(50))
    if ((await ask().catch(() => [])).length > 0) return
  assert.fail(`not within 20 seconds: ${what}`)
}

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

// It waits for no standby, as after a failover that an operator did by hand.
test('the old primary comes back and accepts writes: it gets none, and the metrics report it', async () => {
  const { sockets, url } = primary
  const [before] = await query(standby.url, 'select count(*)::int as rows from payments')
  primary.program = await runServer(join(base, 'one'), sockets, url, '-c', 'synchronous_standby_names=')
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
  const authorization = `Bearer ${operatorToken}`
  const metrics = async () =>
    (await (await fetch(`${gateway.url}/metrics`, { headers: { authorization } })).text()).match(
      /^tollgate_database_old_primaries 1$/m,
    ) ?? []
  await until('the metrics report it', metrics)
})
