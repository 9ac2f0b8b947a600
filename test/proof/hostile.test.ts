import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Credentials, onboard } from '../../src/actions/merchants/onboard.ts'
import { givenMasterKeys } from '../../src/start/masterKeys.ts'
import { type Db, openDb } from '../../src/store/db.ts'
import { type FreshDatabase, migratedDatabase, query } from '../support/database.ts'
import { type GatewayProcess, spawnGateway } from '../support/gateway.ts'
import { attacks } from '../support/hostile/attacks.ts'
import { attackerAddresses, type Target } from '../support/hostile/crowd.ts'
import { floods } from '../support/hostile/floods.ts'
import { type Stretch, startHonest } from '../support/hostile/honest.ts'
import { startHostile } from '../support/hostile/hostile.ts'
import { type Row, tableOf } from '../support/hostile/report.ts'
import { maxOpenFiles, rssOf, socketsOf, watchRss } from '../support/hostile/watch.ts'
import { post, signedRequest } from '../support/merchant.ts'
import { openReceiver, type Receiver } from '../support/receiver.ts'

const undisturbedMs = 1200
const MiB = 2 ** 20

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

beforeAll(async () => {
  database = await migratedDatabase()
  db = openDb(database.url, 2)
  ;[receiver, hostile] = await Promise.all([openReceiver(), startHostile()])
  const [shop, attacker] = await Promise.all(
    ['Ama Shop', 'Mallory'].map(name =>
      onboard(db, givenMasterKeys([masterKey]), name, ['test'], new Date()),
    ),
  )
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
  })
  await sleep(5000) // its code is compiled, its connections are open
  rssAtStart = rssOf(pidOf(gateway)) ?? 0
})
afterAll(async () => {
  console.log(`\n${tableOf(rows)}\n`)
  await honest?.stop()
  await hostile?.stop()
  await gateway?.kill('SIGTERM')
  await receiver?.close()
  await db.end()
  await database.drop()
})

const portOf = (url: string) => Number(new URL(url).port)
const pidOf = ({ child }: GatewayProcess) => child.pid as number

async function newTarget(): Promise<Target> {
  const { body } = await post(gateway.url, signedRequest(own))
  return {
    port: portOf(gateway.url),
    sockets: Math.min(2000, Math.floor(maxOpenFiles() / 4)),
    merchant_key: keys.merchant_key,
    invoice_id,
    own: { ...own, token: body.tx_token },
  }
}

for (const { what, run: _ } of [...attacks, ...floods])
  test(`${what}: no honest payment is refused or lost, memory stays bounded`, async () => {
    const target = await newTarget()
    const sockets = socketsOf(pidOf(gateway)) ?? 0
    const undisturbed = honest.nextStretch()
    await sleep(undisturbedMs)
    const beside = honest.nextStretch()
    const highestRss = watchRss(pidOf(gateway))
    const tally = await hostile.attack(what, target)
    honest.nextStretch()
    await Promise.all([...undisturbed.ended, ...beside.ended])
    const rss = highestRss()
    rows.push({ what, tally, undisturbed, beside, rss })
    expect(gateway.child.exitCode, gateway.output().slice(-2000)).toBeNull()
    expect(beside.times.length).toBeGreaterThan(0)
    expect(beside.faults.slice(0, 10)).toEqual([])
    expect(undisturbed.faults.slice(0, 10)).toEqual([])
    expect(await lost(beside)).toEqual([])
    expect(tally.answers['500'] ?? 0).toBe(0)
    expect(rss - rssAtStart).toBeLessThan(512 * MiB)
    await expect.poll(() => socketsOf(pidOf(gateway)) ?? 0, { timeout: 60_000 }).toBeLessThan(sockets + 40)
  })

// Honest payments whose row in the database is not what their shop was told.
async function lost({ journeys }: Stretch): Promise<string[]> {
  const ids = journeys.map(({ invoice_id: id }) => id)
  const found = await query(
    database.url,
    'select invoice_id, tx_reference, status from payments where invoice_id = any($1)',
    [ids],
  )
  return journeys
    .filter(({ tx_reference }) => tx_reference !== undefined)
    .filter(({ invoice_id: id, tx_reference, paid }) => {
      const rowsOf = found.filter(row => row.invoice_id === id)
      const [row] = rowsOf
      const status = paid ? 'paid' : 'awaiting_payment'
      return rowsOf.length !== 1 || row?.tx_reference !== tx_reference || row?.status !== status
    })
    .map(({ invoice_id: id }) => id)
}
