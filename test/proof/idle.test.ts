import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asSuperuser } from '../../src/postgres/access.ts'
import { openDataFolder } from '../../src/postgres/dataFolder.ts'
import { startEmbedded } from '../../src/postgres/embedded.ts'
import { sql } from '../../src/store/db.ts'
import { type TestGateway, testGateway } from '../support/gateway/gateway.ts'

// A separate server that counts statements.
const folder = mkdtempSync(join(tmpdir(), 'tollgate-idle-'))
const seconds = 60
let server: Awaited<ReturnType<typeof startEmbedded>>
const nodes: TestGateway[] = []

beforeAll(async () => {
  await (await startEmbedded(folder, 'command')).stop()
  await asSuperuser(openDataFolder(folder), undefined, [
    ['postgres', "alter system set shared_preload_libraries = 'pg_stat_statements'"],
    ['tollgate', 'create extension pg_stat_statements'],
    ['tollgate', 'grant pg_read_all_stats to tollgate'],
  ])
  server = await startEmbedded(folder, 'command')
  const database = { url: server.url, drop: async () => {} }
  const env = { TOLLGATE_MASTER_KEY: randomBytes(32).toString('hex') }
  for (let n = 0; n < 3; n++) nodes.push(await testGateway(env, {}, database))
}, 120_000)
afterAll(async () => {
  await Promise.all(nodes.map(node => node.stop()))
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}, 60_000)

type Counted = { query: string; calls: number }

// What one of three idle nodes may send in a second, by the table or the setting that the statement names. The first that matches
// counts.
const limits: [name: string, pattern: RegExp, mostASecond: number][] = [
  ['this test', /pg_stat_statements/, 1],
  ['the locks of the nodes', /pg_locks/, 1.5],
  ['what is due', /as accounts \(account, mode\)/, 0.6],
  ['planner settings', /set_config\(.+, .+\), set_config\(/, 0.2],
  ['the health of providers', /provider_health/, 0.25],
  ['heartbeats', /insert into nodes/, 0.15],
  ['whose database it is', /installation_addresses/, 0.25],
  ['the clock', /clock_timestamp/, 0.15],
  ['everything else: searches once a minute or less', /./, 0.6],
]

test('each of three idle nodes sends at most three statements a second', async () => {
  const { db } = nodes[0] as TestGateway
  const counted = async () => {
    const rows = await db.rows<Counted>(sql`
      select query, sum(calls)::integer as calls from pg_stat_statements group by query`)
    return new Map(rows.map(({ query, calls }) => [query, calls]))
  }
  await sleep(10_000) // every worker has searched
  const before = await counted()
  await sleep(seconds * 1000)
  const after = await counted()
  const table = new Map(limits.map(([name]) => [name, 0]))
  for (const [query, calls] of after) {
    const [name] = limits.find(([, pattern]) => pattern.test(query)) as (typeof limits)[number]
    const perNode = (calls - (before.get(query) ?? 0)) / seconds / nodes.length
    table.set(name, (table.get(name) ?? 0) + perNode)
  }
  const tooMany = limits.filter(([name, , most]) => (table.get(name) ?? 0) > most).map(([name]) => name)
  table.delete('this test')
  expect({ tooMany, table: Object.fromEntries(table) }).toMatchObject({ tooMany: [] })
  expect(Math.round(100 * [...table.values()].reduce((sum, one) => sum + one, 0)) / 100).toBeLessThanOrEqual(
    3,
  )
}, 120_000)
