import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { newPause } from '../../src/runtime/pause.ts'
import { type Db, openDb, sql } from '../../src/store/db.ts'
import {
  markDatabaseAsCopy,
  markDatabaseAsMoved,
  adoptDatabase,
} from '../../src/store/installation/copies.ts'
import { openListeningSession } from '../../src/store/nodeSession.ts'
import { watchInstallation } from '../../src/workers/installationWatch.ts'
import { type FreshDatabase, migratedDatabase, query } from '../support/database/database.ts'

vi.setConfig({ testTimeout: 60_000 })

const soon = { timeout: 30_000, interval: 20 }
const here = 'db:5432/tollgate'
const elsewhere = 'drill:5432/tollgate'

let fresh: FreshDatabase
let db: Db
const stops: (() => Promise<void>)[] = []
beforeEach(async () => {
  fresh = await migratedDatabase()
  db = openDb(fresh.url, 4)
})
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop()
  await db.end()
  await fresh.drop()
})

async function watch(address = here, { embedded = false, by = db } = {}) {
  const log = { changed: vi.fn(), recorded: vi.fn(), trouble: vi.fn() }
  const watching = await watchInstallation({ db: by, address, embedded, clock: () => new Date() }, log)
  stops.push(watching.stop)
  return { ...watching, log }
}

const addresses = async () =>
  (await query(fresh.url, 'select address from installation_addresses order by 1')).map(row => row.address)

const addNode = (number: number, address: string, isListening: boolean) =>
  db.rows(sql`insert into nodes values (${`node ${number}`}, ${number}, ${isListening}, 'ama', 'http://a', '0.3.0', 47,
    '{}', ${address}, 0, false, now(), clock_timestamp(), 'all')`)

test('a new database records the address and its server; a second start changes nothing', async () => {
  const first = await watch()
  expect([first.state(), first.pause()]).toEqual([{ is: 'original' }, undefined])
  expect(first.log.recorded.mock.calls).toEqual([[here, 'first']])
  expect(await query(fresh.url, 'select state, system_identifier from installation')).toEqual(
    await query(fresh.url, `select 'original' as state, system_identifier::text from pg_control_system()`),
  )
  const second = await watch()
  expect(second.log.recorded).not.toHaveBeenCalled()
  expect(await addresses()).toEqual([here])
})

test('at another address it is a copy, and says so once', async () => {
  await watch()
  const copy = await watch(elsewhere)
  expect(copy.state()).toEqual({ is: 'copy', why: { kind: 'unknown_address', address: elsewhere } })
  expect(copy.pause()).toBeInstanceOf(Promise)
  await sleep(1500) // checked again
  expect(copy.log.changed).toHaveBeenCalledTimes(1)
  expect(await addresses()).toEqual([here])
})

test('a node that holds its lock at the known address shows another route, at once', async () => {
  await watch()
  const session = await openListeningSession(db, 4711, () => {})
  stops.push(() => session.close())
  await addNode(4711, here, true)
  const other = await watch(elsewhere)
  expect(other.log.recorded.mock.calls).toEqual([[elsewhere, 'another_route']])
  expect(await addresses()).toEqual([here, elsewhere])
})

test('rows of nodes in a copy prove nothing; a heartbeat ends the pause', async () => {
  await watch()
  await addNode(4711, here, true)
  const other = await watch(elsewhere)
  const isOver = vi.fn()
  void other.pause()?.then(isOver)
  await sleep(2500)
  expect(other.state().is).toBe('copy')
  await db.rows(sql`update nodes set seen_at = clock_timestamp()`)
  await expect.poll(other.state, soon).toEqual({ is: 'original' })
  await expect.poll(() => isOver.mock.calls.length, soon).toBe(1)
  expect(other.pause()).toBeUndefined()
  expect(await addresses()).toEqual([here, elsewhere])
})

// The first records its address; the others find the address of the first, or wait for its heartbeat.
test('of ten nodes at two addresses that start at once, one address is recorded', async () => {
  const watching = await Promise.all(
    Array.from({ length: 10 }, (_, index) => watch(index % 2 ? here : elsewhere)),
  )
  const [recorded = ''] = await addresses()
  expect(await addresses()).toHaveLength(1)
  for (const [index, one] of watching.entries())
    expect(one.state().is).toBe((index % 2 ? here : elsewhere) === recorded ? 'original' : 'copy')
})

test('the marks of restore and move stop a running node; adopt continues it', async () => {
  const node = await watch()
  await markDatabaseAsCopy(db, { reason: 'it was restored from a backup of Monday', now: new Date() })
  await expect
    .poll(node.state, soon)
    .toEqual({ is: 'copy', why: { kind: 'marked', words: 'it was restored from a backup of Monday' } })
  expect(node.pause()).toBeInstanceOf(Promise)
  const served = vi.fn()
  node.onOriginal(served)
  await markDatabaseAsMoved(db, { movedTo: 'new:5432/tollgate', now: new Date() })
  await expect.poll(node.state, soon).toEqual({ is: 'moved', movedTo: 'new:5432/tollgate' })
  await adoptDatabase(db, { address: here, system_identifier: null, now: new Date() })
  await expect.poll(() => node.state().is, soon).toBe('original')
  expect(served).toHaveBeenCalledTimes(1)
})

test('another system identifier is a copy, also at the known address', async () => {
  await watch()
  await db.rows(sql`update installation set system_identifier = '1'`)
  expect((await watch()).state()).toEqual({ is: 'copy', why: { kind: 'other_server' } })
})

// Such as a copy that pg_dump has made: its tables have the same contents, and its connections stay open.
test('a pooler that is pointed at another server is noticed while its connections stay open', async () => {
  await watch()
  const [own] = await query(fresh.url, 'select system_identifier::text as id from pg_control_system()')
  let id = own.id
  const pooled = {
    ...db,
    isPooled: () => true,
    withQuota: () => pooled,
    withDeadline: () => pooled,
    one: (statement: Parameters<Db['one']>[0]) =>
      statement.text.includes('pg_control_system') ? Promise.resolve({ id }) : db.one(statement),
  } as Db
  const node = await watch(here, { by: pooled })
  expect(node.state()).toEqual({ is: 'original' })
  id = '1'
  await expect.poll(node.state, soon).toEqual({ is: 'copy', why: { kind: 'other_server' } })
})

test('an embedded database with test payments only continues at another place', async () => {
  await watch()
  const moved = await watch(elsewhere, { embedded: true })
  expect(moved.log.recorded.mock.calls).toEqual([[elsewhere, 'only_test_payments']])
  expect(moved.state()).toEqual({ is: 'original' })
})

test('a role that may not read the system identifier is judged by the address', async () => {
  const refuses = { ...db, withQuota: () => denied } as Db
  const denied = {
    ...db,
    withDeadline: () => denied,
    one: (statement: Parameters<Db['one']>[0]) =>
      statement.text.includes('pg_control_system')
        ? Promise.reject(Object.assign(new Error('permission denied'), { code: '42501' }))
        : db.one(statement),
  } as Db
  await watch(here, { by: refuses })
  expect(await query(fresh.url, 'select system_identifier from installation')).toEqual([
    { system_identifier: null },
  ])
  expect((await watch(elsewhere, { by: refuses })).state().is).toBe('copy')
  expect((await watch()).log.recorded.mock.calls).toEqual([[here, 'server_readable']])
})

test('after a connection to another server workers pause until it is checked', async () => {
  let changed: (() => void) | undefined
  let hold: Promise<void> | undefined
  const slow = {
    ...db,
    onServerChange: (listener: () => void) => void (changed = listener),
    withQuota: () => slow,
    withDeadline: () => slow,
    one: async (statement: Parameters<Db['one']>[0]) => {
      await hold
      return db.one(statement)
    },
  } as Db
  const node = await watch(here, { by: slow })
  const answer = newPause()
  hold = answer.over
  changed?.()
  const paused = node.pause()
  expect(paused).toBeInstanceOf(Promise)
  await sleep(300)
  expect(node.pause()).toBe(paused)
  answer.end()
  await paused
  expect(node.state()).toEqual({ is: 'original' })
})
