import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, test } from 'vitest'
import { setMerchant } from '../../src/actions/merchants/setMerchant.ts'
import { type Credentials, onboard } from '../../src/actions/merchants/onboard.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { openDb, sql } from '../../src/store/db.ts'
import { type FreshDatabase, freshDatabase, query } from '../support/database/database.ts'
import {
  newPgBouncer,
  type PgBouncer,
  shippedSettings,
  startPgBouncer,
} from '../support/database/pgBouncer.ts'
import { type GatewayProcess, spawnGateway } from '../support/gateway/gateway.ts'
import { type Answer, checkStatus, post, type Request, signedRequest } from '../support/merchant/merchant.ts'

// Three nodes behind PgBouncer in transaction mode, with the settings of the file in deploy/. The third node has a direct
// address, too.
const sessions = Number(shippedSettings().default_pool_size)
const masterKey = randomBytes(32)
const nodes: GatewayProcess[] = []
const asked: { request: Request; answer: Answer; url: string }[] = []
let database: FreshDatabase
let pooler: PgBouncer
let shop: Credentials

beforeAll(async () => {
  if (!newPgBouncer) return
  database = await freshDatabase()
  pooler = await startPgBouncer(newPgBouncer, database.url, shippedSettings())
  const env = {
    DATABASE_URL: pooler.url,
    TOLLGATE_MASTER_KEY: masterKey.toString('hex'),
    TOLLGATE_BASE_URL: 'https://pay.example',
  }
  const direct = { ...env, TOLLGATE_DIRECT_DATABASE_URL: database.url }
  nodes.push(...(await Promise.all([env, env, direct].map(one => spawnGateway(one)))))
  const db = openDb(database.url, 2)
  const merchant = await onboard(db, givenMasterKeys([masterKey]), 'Ama Shop', ['test'], new Date())
  assert.ok(merchant.test)
  shop = merchant.test
  await setMerchant(db, merchant.merchant_id, ['rate_limit=0'])
  await db.end()
})
afterAll(async () => {
  if (!newPgBouncer) return
  await Promise.all(nodes.map(node => node.kill('SIGTERM')))
  await pooler.stop()
  await database.drop()
})

async function initiate(url: string) {
  const request = signedRequest(shop)
  asked.push({ request, url, answer: await post(url, request) })
}

test.skipIf(!newPgBouncer)(
  'the pooler is killed under load and comes back: nothing answered is lost',
  async () => {
    const over = new AbortController()
    const customers = Array.from({ length: 12 }, async (_, at) => {
      while (!over.signal.aborted) await initiate((nodes[at % nodes.length] as GatewayProcess).url)
    })
    await sleep(1500)
    await pooler.kill()
    await sleep(500)
    await pooler.start()
    const back = asked.length
    while (asked.length < back + 300) await sleep(50)
    over.abort()
    await Promise.all(customers)

    const failed = asked.filter(({ answer }) => answer.http !== 200)
    assert.deepEqual(
      new Set(failed.map(({ answer }) => answer.http)),
      new Set(failed.length > 0 ? [503] : []),
    )
    for (const one of failed) one.answer = await post(one.url, one.request)
    for (const { request, answer, url } of asked) {
      const found = await checkStatus(url, {
        merchant_key: shop.merchant_key,
        invoice_id: request.invoice_id,
      })
      assert.equal(found.body.tx_reference, answer.body.tx_reference)
    }
    const [count] = await query(database.url, 'select count(*)::int as rows from payments')
    assert.equal(count.rows, asked.length)
  },
)

const listening = async () =>
  (await query(database.url, 'select is_listening from nodes order by is_listening')).map(
    row => row.is_listening,
  )

test.skipIf(!newPgBouncer)('a node with a direct address listens, the others poll', async () => {
  for (const end = performance.now() + 20_000; performance.now() < end; await sleep(200))
    if (String(await listening()) === 'false,false,true') break
  assert.deepEqual(await listening(), [false, false, true])
})

// Settings that PgBouncer itself makes, for each of its clients.
const ofPgBouncer = [
  'application_name',
  'client_encoding',
  'DateStyle',
  'TimeZone',
  'standard_conforming_strings',
]
const leftBehind = `
  select name as left_behind from pg_settings where source = 'session' and name <> all($1)
  union all select channel from pg_listening_channels() as channel
  union all select locktype from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()`

test.skipIf(!newPgBouncer)(
  'no session of the pool has a setting, a lock or a LISTEN of the nodes',
  async () => {
    const clients = Array.from({ length: sessions }, () => new pg.Client(pooler.url))
    try {
      const pids = new Set<number>()
      for (const client of clients) {
        await client.connect()
        await client.query('begin') // keeps the session, so that the next one gets another
        const { rows } = await client.query(leftBehind, [ofPgBouncer])
        assert.deepEqual(rows, [])
        pids.add((await client.query('select pg_backend_pid() as pid')).rows[0].pid)
      }
      assert.equal(pids.size, sessions)
    } finally {
      for (const client of clients) await client.end()
    }
  },
)

const idle = () =>
  query(
    database.url,
    `select from pg_stat_activity where state = 'idle in transaction' and query like '%for update%'`,
  )

test.skipIf(!newPgBouncer)('the server ends a transaction that is idle, and its lock is free', async () => {
  const db = openDb(pooler.url, 1)
  const locked = sql`select from merchants for update`
  const work = db.transaction(async tx => {
    await tx.rows(locked)
    for (const end = performance.now() + 20_000; performance.now() < end; await sleep(200))
      if ((await idle()).length === 0) break
    await tx.rows(sql`select 1`)
  })
  await assert.rejects(work)
  assert.deepEqual(await idle(), [])
  assert.equal((await db.rows(locked)).length, 1) // the shop
  await db.end()
})
