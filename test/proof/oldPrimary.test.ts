import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Db, openDb } from '../../src/store/db.ts'
import { migrate } from '../../src/store/migrate/migrate.ts'
import { type NodeSession, openListeningSession, presentNodes } from '../../src/store/nodeSession.ts'
import { query } from '../support/database/database.ts'
import { laterRelease } from '../support/database/migrations.ts'
import { type OwnServer, startPair, until } from '../support/database/ownServer.ts'
import { type PostgresProxy, startPostgresProxy } from '../support/database/postgresProxy.ts'

type Server = OwnServer & { proxy: PostgresProxy }

const base = mkdtempSync(join(tmpdir(), 'tollgate-old-primary-'))
let old: Server
let promoted: Server
let db: Db
let sessionBefore: NodeSession // of a node that runs through the failover

// A failover of which the old primary knows nothing: both accept writes. It is listed first.
beforeAll(async () => {
  const pair = await startPair(base)
  old = { ...pair.primary, proxy: await startPostgresProxy(pair.primary.url) }
  promoted = { ...pair.standby, proxy: await startPostgresProxy(pair.standby.url) }
  const hosts = [old, promoted].map(server => new URL(server.proxy.url).host).join()
  db = openDb(`postgres://tollgate@${hosts}/tollgate?sslmode=disable`, 4)
  await migrate(db)
  sessionBefore = await openListeningSession(db, 1, () => {})
  await query(old.url, 'alter system reset synchronous_standby_names')
  await query(old.url, 'select pg_reload_conf()')
  await query(promoted.url, 'select pg_promote()')
  await until('the pool has seen both', async () => [...db.oldPrimaries()])
})
afterAll(async () => {
  await sessionBefore?.close().catch(() => {})
  await db?.end()
  for (const server of [old, promoted]) {
    await server?.proxy.stop()
    await server?.stop()
  }
  rmSync(base, { recursive: true, force: true })
})

test('a node leaves the old primary, and listens on the promoted one', async () => {
  await expect(sessionBefore.presentNodes()).rejects.toThrow('old primary')
  const session = await openListeningSession(db, 2, () => {})
  expect(await session.presentNodes()).toEqual([2])
  expect(await presentNodes(db)).toEqual([2])
  await session.close()
})

// The table and the index of a later release.
const later = {
  '9001_notes.sql': 'create table notes (text text)',
  '9002_index.sql':
    '-- outside a transaction\ncreate index concurrently if not exists notes_text on notes (text);',
}
const placesOf = async ({ url }: Server) =>
  (
    await query(
      url,
      `select to_regclass('notes') is not null as notes, to_regclass('notes_text') is not null as index`,
    )
  )[0]

test('migrations go to the promoted server only', async () => {
  expect(await migrate(db, { folder: laterRelease(later) })).toEqual(Object.keys(later))
  expect(await placesOf(promoted)).toEqual({ notes: true, index: true })
  expect(await placesOf(old)).toEqual({ notes: false, index: false })
})

test('while the promoted server does not answer, no session opens on the old one', async () => {
  await promoted.proxy.goDown()
  await expect(openListeningSession(db, 3, () => {})).rejects.toThrow()
  expect(
    await query(old.url, `select from pg_stat_activity where application_name = 'tollgate node'`),
  ).toHaveLength(1) // the session before
  await promoted.proxy.comeUp()
})
