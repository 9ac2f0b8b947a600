import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { openDb, sql } from '../../src/store/db.ts'
import { openListeningSession } from '../../src/store/nodeSession.ts'
import { type Node, startNode } from '../../src/workers/node.ts'
import { query } from '../support/database/database.ts'
import { startPostgresProxy } from '../support/database/postgresProxy.ts'
import { seconds } from '../support/payments/rows.ts'
import { openDeliveryFixture, type DeliveryFixture } from './deliveries/fixture.ts'

vi.setConfig({ testTimeout: 120_000 }) // its polls wait for up to 40 s

const soon = { timeout: 40_000, interval: 20 }

let fixture: DeliveryFixture
let wakeUps: string[]
const living = new Set<Node>()
beforeAll(async () => {
  fixture = await openDeliveryFixture(1)
  return () => fixture.close()
})
beforeEach(async () => {
  wakeUps = []
  fixture.setNow(new Date())
  await fixture.db.rows(sql`truncate deliveries, notifications, tries`)
})
afterEach(async () => {
  for (const node of living) await node.stop()
  living.clear()
})

async function start(name: string, watch = { cannotListen() {}, died() {} }, db = fixture.db) {
  const node = startNode({ db, clock: fixture.clock, onWakeUp: who => wakeUps.push(`${name} ${who}`), watch })
  living.add(node)
  await expect.poll(() => node.token(), soon).toMatch(/^n\d+-/)
  return node
}

// A token of a node after its first check.
async function numbered(node: Node): Promise<string> {
  for (;;) {
    const token = node.token()
    if (numberOf(token)) return token
    await sleep(20)
  }
}
const numberOf = (token: string) => /^n\d+-/.exec(token)?.[0]

const connections = () =>
  query(
    fixture.url,
    `select pid from pg_stat_activity where application_name = 'tollgate node' and datname = current_database()`,
  )
const cut = () =>
  query(
    fixture.url,
    `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'tollgate node' and datname = current_database()`,
  )

test('a wake-up reaches every other node and not its sender; many at once are coalesced', async () => {
  const ama = await start('ama')
  await start('kofi')
  await start('esi')
  for (let at = 0; at < 1000; at++) ama.sendWakeUp('senders')
  ama.sendWakeUp('pollers')
  await expect.poll(() => wakeUps.length, soon).toBeGreaterThanOrEqual(4)
  await sleep(200)
  expect(new Set(wakeUps)).toEqual(new Set(['kofi senders', 'kofi pollers', 'esi senders', 'esi pollers']))
  expect(wakeUps.length).toBeLessThan(20)
})

test('other payloads on the channel are ignored', async () => {
  await start('ama')
  await query(fixture.url, `select pg_notify('tollgate', 'drop table'), pg_notify('tollgate', '')`)
  await query(fixture.url, `select pg_notify('tollgate', 'senders nobody')`)
  await expect.poll(() => wakeUps, soon).toEqual(['ama senders'])
})

test('a connection that is cut is opened again with the same number, and no lease is ended', async () => {
  const gone = vi.fn()
  const ama = await start('ama')
  await start('kofi', { cannotListen() {}, died: gone })
  await fixture.notify({ merchant_id: fixture.ids[0] as string })
  // A node that reconnects too late gets another number. Then the test tries again.
  for (const tries of [1, 2, 3, 4, 5]) {
    const token = await numbered(ama)
    await lease(token)
    const before = await connections()
    await cut()
    await expect.poll(async () => (await connections()).length, soon).toBe(2)
    expect(await connections()).not.toEqual(before)
    if (numberOf(await numbered(ama)) === numberOf(token)) break
    expect(tries).toBeLessThan(5)
  }
  await sleep(5000)
  expect([gone.mock.calls, await leased()]).toEqual([[], 1])
  ama.sendWakeUp('senders')
  await expect.poll(() => wakeUps, soon).toContain('kofi senders')
})

const lease = (token: string) =>
  fixture.db.rows(sql`update deliveries set lease_token = ${token}, tries = 1,
    lease_until = ${new Date(fixture.clock().getTime() + seconds(30))}`)
const leased = async () =>
  (await fixture.db.rows(sql`select from deliveries where lease_until > ${fixture.clock()}`)).length

for (const [what, isSeen] of [
  ['died while another node was running', true],
  ['died before the other node started', false],
] as const)
  test(`the leases of a node that ${what} end; those without a number end by their time`, async () => {
    const gone = vi.fn()
    for (let at = 0; at < 3; at++) await fixture.notify({ merchant_id: fixture.ids[0] as string })
    const number = 77_000 + Number(isSeen)
    const dying = await openListeningSession(fixture.db, number, () => {})
    await lease(`n${number}-abc`)
    await fixture.db.rows(sql`update deliveries set lease_token = 'former' where tx_reference = (
      select min(tx_reference) from deliveries)`)
    if (isSeen) await start('ama', { cannotListen() {}, died: gone })
    await sleep(1500)
    expect(await leased()).toBe(3)
    await dying.close()
    if (!isSeen) await start('ama', { cannotListen() {}, died: gone })
    await expect.poll(leased, soon).toBe(1)
    await expect.poll(() => gone.mock.calls, soon).toEqual([[number, 2]])
    expect(wakeUps).toEqual(['ama senders'])
    const tokens = await fixture.db.rows<{ lease_token: string }>(
      sql`select distinct lease_token from deliveries order by 1`,
    )
    expect(tokens.map(one => one.lease_token)).toEqual(['former', `n${number}-abc`])
  })

test('a disconnected node takes leases that end by their time only, and does not trust leases with its number', async () => {
  let url = fixture.url
  const db = Object.defineProperty({ ...fixture.db }, 'sessionUrl', { get: () => url })
  const ama = await start('ama', { cannotListen() {}, died() {} }, db)
  const token = ama.token()
  await expect.poll(() => [ama.isOurs(token), ama.isOurs('former')], soon).toEqual([true, true])
  url = 'postgres://nobody@127.0.0.1:1/none'
  await cut()
  await expect.poll(() => ama.isOurs(token), soon).toBe(false)
  expect([ama.token().includes('-'), ama.isOurs('former')]).toEqual([false, true])
  expect(await ama.confirm(token)).toBe(false)
  url = fixture.url
  await expect.poll(() => ama.token().includes('-'), soon).toBe(true)
  expect(ama.isOurs(ama.token())).toBe(true)
  expect([ama.isOurs(token), await ama.confirm(token)]).toEqual([false, false]) // others may have given it up
})

test('a node that was paused for long checks again and keeps its leases, because its connection never ended', async () => {
  const proxy = await startPostgresProxy(fixture.url)
  const db = Object.defineProperty({ ...fixture.db }, 'sessionUrl', { value: proxy.url })
  try {
    const ama = await start('ama', { cannotListen() {}, died() {} }, db)
    const token = ama.token()
    proxy.hold()
    await expect.poll(() => ama.isOurs(token), soon).toBe(false)
    const confirmed = ama.confirm(token)
    proxy.release()
    expect(await confirmed).toBe(true)
    await expect.poll(() => ama.isOurs(token), soon).toBe(true)
  } finally {
    for (const node of living) await node.stop()
    living.clear()
    await proxy.stop()
  }
})

test('without a connection, or if notifications do not arrive, the node works without wake-ups and reports that once', async () => {
  const deaf = vi.fn()
  const { db } = fixture
  // Like a pooler in transaction mode: notifications do not arrive.
  const unheard = { ...db, rows: async () => [] } as typeof db
  const node = startNode({
    db: unheard,
    clock: fixture.clock,
    onWakeUp() {},
    watch: { cannotListen: deaf, died() {} },
  })
  living.add(node)
  await expect.poll(() => deaf.mock.calls.length, soon).toBe(1)
  expect(node.token()).not.toMatch(/^n\d+-/)
  node.sendWakeUp('senders')
  const nowhere = openDb('postgres://nobody@127.0.0.1:1/none', 1)
  const alone = startNode({
    db: nowhere,
    clock: fixture.clock,
    onWakeUp() {},
    watch: { cannotListen: deaf, died() {} },
  })
  living.add(alone)
  alone.sendWakeUp('pollers')
  await sleep(500)
  expect([deaf.mock.calls.length, alone.token().length]).toEqual([1, 16])
  await alone.stop()
  await nowhere.end()
})
