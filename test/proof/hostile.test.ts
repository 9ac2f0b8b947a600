import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Credentials, demoId, onboard } from '../../src/actions/merchants/onboard.ts'
import type { Config } from '../../src/config.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { openDemoShop } from '../../src/start/shop.ts'
import { type Db, openDb } from '../../src/store/db.ts'
import { routesOf } from '../../src/web/api/api.ts'
import type { ApiOptions } from '../../src/web/api/initiate.tsx'
import { type AppOptions, createApp } from '../../src/web/app.ts'
import { allDocuments } from '../../src/web/docs/allDocuments.tsx'
import { type FreshDatabase, migratedDatabase, query } from '../support/database/database.ts'
import { type GatewayProcess, spawnGateway } from '../support/gateway/gateway.ts'
import { testRuntime } from '../support/gateway/runtime.ts'
import { attacks } from '../support/hostile/attacks.ts'
import { attackerAddresses, type Tally, type Target } from '../support/hostile/crowd.ts'
import { floodedPaths, floods } from '../support/hostile/floods.ts'
import { type Journey, startHonest } from '../support/hostile/honest.ts'
import { faultsIn, type Row, tableOf } from '../support/hostile/report.ts'
import { maxOpenFiles, rssOf, socketsOf, watchProcess } from '../support/hostile/watch.ts'
import { post, signedRequest } from '../support/merchant/merchant.ts'
import { openReceiver, type Receiver } from '../support/merchant/receiver.ts'
import { bundle } from '../support/processes/bundle.ts'
import { othersShare, starvedShare } from '../support/proof/decision.ts'
import { watchMachine } from '../support/proof/machine.ts'
import { testSeed } from '../support/random.ts'

// Hostile clients, in a process of their own, beside honest payments at a gateway in a process of its own. What an attack
// sends is limited to a stated rate: a flood that takes the whole CPU is stopped by the proxy in front, and two cores have
// to serve the honest clients and PostgreSQL as well. Times are printed at the end, and none is asserted.
const undisturbedMs = 1000
const settlingMs = 60_000
const MiB = 2 ** 20

// How much more memory than at the start the gateway may occupy beside any attack: 64 MiB of bodies that are not complete;
// 2,000 sockets with 64 KiB each, for a request with its headers (16 KiB at most), one chunk that was read and one that
// waits to be sent; and 192 MiB of garbage, because V8 lets a heap of this size double before it collects all of it.
const moreMemory = (64 + 2000 / 16 + 192) * MiB

const masterKey = randomBytes(32)
let database: FreshDatabase
let db: Db
let gateway: GatewayProcess
let receiver: Receiver
let hostile: Awaited<ReturnType<typeof startHostile>>
let honest: ReturnType<typeof startHonest>
let keys: Credentials
let own: Credentials
let invoice_id: string
let rssAtStart: number
const rows: Row[] = []
const machine = watchMachine()

beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 2)
  ;[receiver, hostile] = await Promise.all([openReceiver(), startHostile()])
  const [shop, attacker] = await Promise.all(
    ['Ama Shop', 'Mallory'].map(name =>
      onboard(db, givenMasterKeys([masterKey]), name, ['test'], new Date()),
    ),
  )
  await onboard(db, givenMasterKeys([masterKey]), 'Demo Shop', ['test'], new Date(), demoId)
  keys = shop?.test as Credentials
  own = attacker?.test as Credentials
  gateway = await spawnGateway({
    DATABASE_URL: database.url,
    TOLLGATE_MASTER_KEY: masterKey.toString('hex'),
    TOLLGATE_EGRESS_LOOPBACK: 'on', // the shop's server is on this machine
    LOG_LEVEL: 'warn',
  })
  invoice_id = (await post(gateway.url, signedRequest(keys))).body.invoice_id
  honest = startHonest({
    port: portOf(gateway.url),
    keys,
    receiver,
    sharedAddress: attackerAddresses[0] as string,
    isStarved: since => (othersShare(machine.samples, since, Date.now()) ?? 0) > starvedShare,
  })
  await sleep(5000) // its code is compiled, its connections are open
  rssAtStart = rssOf(pidOf(gateway)) ?? 0
}, 180_000)
afterAll(async () => {
  machine.stop()
  console.log(`\n${tableOf(rows)}\n`)
  await honest?.stop()
  await hostile?.stop()
  await gateway?.kill('SIGTERM')
  await receiver?.close()
  await db?.end()
  await database?.drop()
}, 180_000)

const portOf = (url: string) => Number(new URL(url).port)
const pidOf = ({ child }: GatewayProcess) => child.pid as number

const baseTarget = () => ({
  port: portOf(gateway.url),
  pid: pidOf(gateway),
  sockets: Math.min(2000, Math.floor(maxOpenFiles() / 4)),
  merchant_key: keys.merchant_key,
  invoice_id,
})

// Each attack has a payment of the attacker's own.
async function newTarget(): Promise<Target> {
  const { body } = await post(gateway.url, signedRequest(own))
  return { ...baseTarget(), own: { ...own, token: body.tx_token } }
}

test('every route that anybody can call has a flood', () => {
  const runtime = testRuntime({ db, masterKeys: givenMasterKeys([masterKey]) })
  const sandbox = createSandbox({ ...runtime, db, key: 'key', baseUrl: gateway.url }).app
  const app = createApp({ runtime, sandbox, shop: demoShop() } as unknown as AppOptions)
  const routes = [
    ...app.routes.filter(({ method, path }) => method !== 'ALL' && !isBehindGuard(path)), // middleware has no method of its own
    ...[...routesOf({} as ApiOptions)].flatMap(([path, route]) =>
      Object.keys(route).map(method => ({ method, path })),
    ),
    ...[...allDocuments(() => '').values()].map(({ route }) => ({ method: 'GET', path: route })),
  ]
  const flooded = floodedPaths({ ...baseTarget(), own: { ...own, token: 'm'.repeat(42) } })
  const left = routes.filter(
    route => !flooded.some(({ method, path }) => method === route.method && isAt(route.path, path)),
  )
  expect(routes.length).toBeGreaterThan(40)
  expect(left.map(({ method, path }) => `${method} ${path}`)).toEqual([])
})

const demoShop = () =>
  openDemoShop(
    { TOLLGATE_SANDBOX: true } as Config,
    { db, masterKeys: givenMasterKeys([masterKey]), isSent: () => false } as unknown as Parameters<
      typeof openDemoShop
    >[1],
  )

// Pages that need a session have one guard, and one flood at some of them.
const isBehindGuard = (path: string) => /^\/dashboard\/(m|operator|account)\//.test(path)

// Whether a path is one of a route such as /checkout/:token/pay.
const isAt = (route: string, path: string) =>
  new RegExp(`^${route.replaceAll(/:\w+|\{\w+\}/g, '[^/]+').replaceAll('/*', '(/.*)?')}/?$`).test(path)

for (const { what } of [...attacks, ...floods])
  test(`${what}: no honest payment is refused or lost, memory stays bounded`, async () => {
    const attacked = await newTarget()
    const sockets = socketsOf(pidOf(gateway)) ?? 0
    const undisturbed = honest.nextStretch()
    const usageBefore = watchProcess(pidOf(gateway))
    await sleep(undisturbedMs)
    const before = usageBefore()
    const beside = honest.nextStretch()
    const usageBeside = watchProcess(pidOf(gateway))
    const tally = await hostile.attack(what, attacked)
    const usage = usageBeside()
    const after = honest.nextStretch()
    await Promise.all([...undisturbed.ended, ...beside.ended])
    rows.push({ what, tally, undisturbed, beside, before, usage })
    expect(gateway.child.exitCode, gateway.output().slice(-2000)).toBeNull()
    expect(beside.times.length).toBeGreaterThan(0)
    expect(faultsIn(beside)).toEqual([])
    expect(faultsIn(undisturbed)).toEqual([])
    expect(faultsIn(after)).toEqual([])
    expect(await lost(beside.journeys)).toEqual([])
    expect(tally.answers['500'] ?? 0).toBe(0)
    expect(usage.rss - rssAtStart).toBeLessThan(moreMemory)
    await expect
      .poll(() => socketsOf(pidOf(gateway)) ?? 0, { timeout: settlingMs })
      .toBeLessThan(sockets + 40)
  })

test('after all attacks every honest payment is in the database once, and its shop was notified', async () => {
  await honest.stop()
  const all = honest.stretches()
  expect(await lost(all.flatMap(({ journeys }) => journeys))).toEqual([])
  const paid = all.flatMap(({ journeys }) => journeys.filter(({ form }) => form === 'accepted'))
  expect(paid.length).toBeGreaterThan(0)
  expect(paid.filter(journey => !honest.isNotified(journey))).toEqual([])
  expect(gateway.output()).not.toContain('"msg":"bug')
})

// Honest payments whose row in the database is not what their shop was told.
async function lost(journeys: readonly Journey[]): Promise<string[]> {
  const ids = journeys.map(({ invoice_id: id }) => id)
  const found = await query(
    database.url,
    'select invoice_id, tx_reference, status from payments where invoice_id = any($1)',
    [ids],
  )
  return journeys
    .filter(({ tx_reference }) => tx_reference !== undefined)
    .filter(({ invoice_id: id, tx_reference, form }) => {
      const rowsOf = found.filter(row => row.invoice_id === id)
      const [row] = rowsOf
      const isRight = form === 'sent' || row?.status === (form ? 'paid' : 'awaiting_payment')
      return rowsOf.length !== 1 || row?.tx_reference !== tx_reference || !isRight
    })
    .map(({ invoice_id: id }) => id)
}

// The hostile process, as the test sees it.
async function startHostile() {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-hostile-'))
  const program = join(folder, 'hostile.cjs')
  await bundle(new URL('../support/hostile/program.ts', import.meta.url), program)
  const child = fork(program, { env: { PATH: process.env.PATH, TEST_SEED: String(testSeed) }, execArgv: [] })
  const ended = once(child, 'exit')
  return {
    async attack(what: string, target: Target): Promise<Tally> {
      const answer = once(child, 'message')
      child.send({ what, target })
      const over = ended.then(() => Promise.reject(new Error('the hostile process ended')))
      const [{ tally, failed }] = (await Promise.race([answer, over])) as [{ tally: Tally; failed?: string }]
      if (failed) throw new Error(failed)
      return tally
    },
    async stop() {
      child.disconnect()
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
