import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Credentials, onboard } from '../../src/actions/merchants/onboard.ts'

import { createRedaction } from '../../src/actions/redaction/redact.ts'
import { asSuperuser } from '../../src/postgres/access.ts'
import { openDataFolder } from '../../src/postgres/dataFolder.ts'
import { startEmbedded } from '../../src/postgres/embedded.ts'
import { reschedule } from '../../src/runtime/reschedule.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { type Db, sql } from '../../src/store/db.ts'
import { forgetOldPaths, forgetOldTries } from '../../src/workers/deliveries/worker.ts'
import { forgetOldMessages } from '../../src/workers/messages/worker.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'
import { post, send, signedRequest } from '../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'
import { expireDue } from '../support/payments/expireDue.ts'

// A separate server without autovacuum, so that only this test takes transaction ids.
const folder = mkdtempSync(join(tmpdir(), 'tollgate-idle-'))
let server: Awaited<ReturnType<typeof startEmbedded>>
const masterKey = randomBytes(32)
let nodes: TestGateway[] = []
let receiver: Receiver

beforeAll(async () => {
  await (await startEmbedded(folder, 'command')).stop()
  await asSuperuser(openDataFolder(folder), undefined, [['postgres', 'alter system set autovacuum = off']])
  server = await startEmbedded(folder, 'command')
  receiver = await openReceiver()
  const database = { url: server.url, drop: async () => {} }
  const env = { TOLLGATE_EGRESS_LOOPBACK: 'on', TOLLGATE_MASTER_KEY: masterKey.toString('hex') }
  for (let n = 0; n < 2; n++) nodes = [...nodes, await testGateway(env, {}, database)]
}, 120_000)
afterAll(async () => {
  await Promise.all(nodes.map(node => node.stop()))
  await receiver.close()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}, 60_000)

const first = () => nodes[0] as TestGateway
const db = (): Db => first().db

// The next transaction id. A transaction that only reads takes none.
const nextNumber = async () =>
  (await db().one<{ next: string }>(sql`select pg_snapshot_xmax(pg_current_snapshot())::text as next`))?.next

// One payment that waits for its customer, and one that was cancelled and notified.
async function addPayments() {
  const merchant = await onboard(db(), givenMasterKeys([masterKey]), 'Ama Shop', ['test'], new Date())
  const keys = merchant.test as Credentials
  const ask = async () =>
    (await post(first().url, signedRequest(keys, { ipn_url: `${receiver.url}/ipn` }))).body
  await ask()
  const { checkout_url, tx_reference } = await ask()
  await send(`${checkout_url}/cancel`, { method: 'POST', body: new URLSearchParams() })
  while (receiver.of(tx_reference).length === 0) await sleep(20)
  const left = sql`select from deliveries where acknowledged_at is null`
  while ((await db().rows(left)).length > 0) await sleep(20)
  const paths = sql`select from acknowledged_paths where merchant_id = ${merchant.merchant_id}`
  while ((await db().rows(paths)).length === 0) await sleep(20) // counted a little later
  while (!(await areMinutesStored())) await sleep(20)
}

// The counts of the live view are stored a second later.
const areMinutesStored = async () =>
  (
    await db().one<{ stored: boolean }>(sql`
    select (select sum(started_test) from node_minutes) = (select count(*) from payments)
      and (select sum(delay::integer) from node_minutes, jsonb_array_elements_text(counts -> 'delays') as delay)
        = (select count(*) from payments) as stored`)
  )?.stored

// Each node writes its heartbeat every ten seconds.
test('idle nodes commit nothing but their heartbeats', async () => {
  await addPayments()
  const before = Number(await nextNumber())
  await sleep(4000) // every loop polls several times
  expect(Number(await nextNumber()) - before).toBeLessThanOrEqual(nodes.length)
  await addPayments()
  expect(Number(await nextNumber()) - before).toBeGreaterThan(nodes.length) // else nothing was proved
})

async function commitsOf(work: (now: Date) => Promise<number>) {
  const before = await nextNumber()
  expect(await work(new Date())).toBe(0)
  return Number(await nextNumber()) - Number(before)
}

// Work that runs too rarely to wait for.
for (const [name, work] of [
  ['old tries are removed', now => forgetOldTries(db(), now)],
  ['old paths are removed', now => forgetOldPaths(db(), now)],
  ['old messages are deleted', now => forgetOldMessages(db(), now)],
  ['expired payments end', now => expireDue(db(), now)],
  [
    'attempts that were postponed too far are rescheduled',
    now => reschedule({ db: db(), clock: () => now }, fail),
  ],
  ['payers are redacted', now => createRedaction(db(), 400, { leftOut: fail, redacted: fail })(now)],
] as [string, (now: Date) => Promise<number>][])
  test(`${name}: without rows nothing is committed`, async () => {
    await addPayments()
    // Heartbeats may be among them, but not every time.
    const commits = [await commitsOf(work), await commitsOf(work), await commitsOf(work)]
    expect(Math.min(...commits)).toBe(0)
  })

function fail(why: unknown): never {
  throw why instanceof Error ? why : new Error(String(why))
}
