import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { openDb, sql } from '../../src/store/db.ts'
import { openNodeSession } from '../../src/store/nodeSession.ts'
import { type Node, startNode } from '../../src/workers/node.ts'
import { query } from '../support/database/database.ts'
import { startPostgresProxy } from '../support/database/postgresProxy.ts'
import { seconds } from '../support/payments/rows.ts'
import { openPost, type Post } from './deliveries/post.ts'

vi.setConfig({ testTimeout: 120_000 }) // its polls wait for up to 40 s

const soon = { timeout: 40_000, interval: 20 }

let post: Post
let heard: string[]
const living = new Set<Node>()
beforeAll(async () => {
  post = await openPost(1)
  return () => post.close()
})
beforeEach(async () => {
  heard = []
  post.setNow(new Date())
  await post.db.rows(sql`truncate deliveries, notifications, tries`)
})
afterEach(async () => {
  for (const node of living) await node.stop()
  living.clear()
})

async function start(name: string, watch = { cannotListen() {}, died() {} }, db = post.db) {
  const node = startNode({ db, clock: post.clock, onWakeUp: who => heard.push(`${name} ${who}`), watch })
  living.add(node)
  await expect.poll(() => node.token(), soon).toMatch(/^n\d+-/)
  return node
}

// A token of a node that is sure to be seen.
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
    post.url,
    `select pid from pg_stat_activity where application_name = 'tollgate node' and datname = current_database()`,
  )
const cut = () =>
  query(
    post.url,
    `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'tollgate node' and datname = current_database()`,
  )

test('a wake-up reaches every other node and not its sender; many at once are few', async () => {
  const ama = await start('ama')
  await start('kofi')
  await start('esi')
  for (let at = 0; at < 1000; at++) ama.sendWakeUp('senders')
  ama.sendWakeUp('pollers')
  await expect.poll(() => heard.length, soon).toBeGreaterThanOrEqual(4)
  await sleep(200)
  expect(new Set(heard)).toEqual(new Set(['kofi senders', 'kofi pollers', 'esi senders', 'esi pollers']))
  expect(heard.length).toBeLessThan(20)
})

test('other payloads on the channel are ignored', async () => {
  await start('ama')
  await query(post.url, `select pg_notify('tollgate', 'drop table'), pg_notify('tollgate', '')`)
  await query(post.url, `select pg_notify('tollgate', 'senders nobody')`)
  await expect.poll(() => heard, soon).toEqual(['ama senders'])
})

test('a connection that is cut is opened again, under the same number: nothing that it holds is ended', async () => {
  const gone = vi.fn()
  const ama = await start('ama')
  await start('kofi', { cannotListen() {}, died: gone })
  await post.tell({ merchant_id: post.ids[0] as string })
  // Whoever is not back in time is another one for the others: then once more.
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
  await expect.poll(() => heard, soon).toContain('kofi senders')
})

const lease = (token: string) =>
  post.db.rows(sql`update deliveries set lease_token = ${token}, tries = 1,
    lease_until = ${new Date(post.clock().getTime() + seconds(30))}`)
const leased = async () =>
  (await post.db.rows(sql`select from deliveries where lease_until > ${post.clock()}`)).length

for (const [what, isSeen] of [
  ['died while another looked on', true],
  ['died before the other one came', false],
] as const)
  test(`the leases of a node that ${what} are over; those without a number have only their time`, async () => {
    const gone = vi.fn()
    for (let at = 0; at < 3; at++) await post.tell({ merchant_id: post.ids[0] as string })
    const number = 77_000 + Number(isSeen)
    const dying = await openNodeSession(post.url, number, () => {})
    await lease(`n${number}-abc`)
    await post.db.rows(sql`update deliveries set lease_token = 'former' where tx_reference = (
      select min(tx_reference) from deliveries)`)
    if (isSeen) await start('ama', { cannotListen() {}, died: gone })
    await sleep(1500)
    expect(await leased()).toBe(3)
    await dying.close()
    if (!isSeen) await start('ama', { cannotListen() {}, died: gone })
    await expect.poll(leased, soon).toBe(1)
    await expect.poll(() => gone.mock.calls, soon).toEqual([[number, 2]])
    expect(heard).toEqual(['ama senders'])
    const tokens = await post.db.rows<{ lease_token: string }>(
      sql`select distinct lease_token from deliveries order by 1`,
    )
    expect(tokens.map(one => one.lease_token)).toEqual(['former', `n${number}-abc`])
  })

test('who does not know whether others see it takes leases that have only their time, and keeps none that ends with it', async () => {
  let url = post.url
  const db = Object.defineProperty({ ...post.db }, 'url', { get: () => url })
  const ama = await start('ama', { cannotListen() {}, died() {} }, db)
  const token = ama.token()
  await expect.poll(() => [ama.isOurs(token), ama.isOurs('former')], soon).toEqual([true, true])
  url = 'postgres://nobody@127.0.0.1:1/none'
  await cut()
  await expect.poll(() => ama.isOurs(token), soon).toBe(false)
  expect([ama.token().includes('-'), ama.isOurs('former')]).toEqual([false, true])
  expect(await ama.confirm(token)).toBe(false)
  url = post.url
  await expect.poll(() => ama.token().includes('-'), soon).toBe(true)
  expect(ama.isOurs(ama.token())).toBe(true)
  expect([ama.isOurs(token), await ama.confirm(token)]).toEqual([false, false]) // others may have given it up
})

test('who was held up for long asks once more, and keeps what it has: its connection never ended', async () => {
  const proxy = await startPostgresProxy(post.url)
  const db = Object.defineProperty({ ...post.db }, 'url', { value: proxy.url })
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

test('no connection at all, or one on which nothing is heard: it goes on without, and says so once', async () => {
  const deaf = vi.fn()
  const { db } = post
  // As a pooler does it that gives each transaction another connection: what is said reaches nobody.
  const unheard = { ...db, rows: async () => [] } as typeof db
  const node = startNode({
    db: unheard,
    clock: post.clock,
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
    clock: post.clock,
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
