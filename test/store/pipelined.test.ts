import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { Locked, Unavailable } from '../../src/core/interface/refusal.ts'
import { ShardUnavailable } from '../../src/core/interface/refusal.ts'
import { type Db, named, openDb, sql } from '../../src/store/db.ts'
import { type FreshDatabase, freshDatabase } from '../support/database/database.ts'
import { lockRows } from '../support/database/lockRows.ts'
import { type Answer, startScripted } from '../support/database/scriptedPostgres.ts'

// A transaction sends statements without waiting for the answers to those before. Each answer is checked all the same.
let database: FreshDatabase
let db: Db // one connection, so that a statement meets what the one before has left

beforeAll(async () => {
  database = await freshDatabase()
  db = openDb(database.url, 1)
  await db.rows(sql`create table things (id integer primary key)`)
  await db.rows(sql`create sequence runs`) // keeps its value when a transaction is rolled back
})
beforeEach(async () => {
  await db.rows(sql`truncate things`)
  await db.rows(sql`alter sequence runs restart`)
})
afterAll(async () => {
  await db.end()
  await database.drop()
})

const things = async () => (await db.rows<{ id: number }>(sql`select id from things`)).map(({ id }) => id)
const divideByZero = sql`select 1 / 0`

// Fails in the first run of a transaction only.
const failOnce = (code: string) =>
  sql([
    `do $$ begin if nextval('runs') < 2 then raise exception 'once' using errcode = '${code}'; end if; end $$`,
  ])

test('work that ignores a failed statement is not committed, and is told why', async () => {
  const work = db.transaction(async tx => {
    await tx.rows(sql`insert into things values (1)`)
    await tx.rows(divideByZero).catch(() => {})
    return 'done'
  })
  await expect(work).rejects.toMatchObject({ code: '22012' })
  expect(await things()).toEqual([])
})

test('work that ignores the failure of its last statement, sent with the commit, is told why', async () => {
  const work = db.transaction(async tx => {
    await tx.rows(sql`insert into things values (1)`)
    void tx.rows(divideByZero).catch(() => {}) // still on its way when the commit is sent
  })
  await expect(work).rejects.toMatchObject({ code: '22012' })
  expect(await things()).toEqual([])
})

test('a statement that fails because of an earlier one reports the error of the earlier one', async () => {
  const work = db.transaction(async tx => {
    const earlier = tx.rows(divideByZero)
    earlier.catch(() => {})
    await tx.rows(sql`select 1`)
  })
  await expect(work).rejects.toMatchObject({ code: '22012' })
})

for (const code of ['40001', '40P01', '57P01'])
  test(`${code} of a statement that nobody awaits is retried`, async () => {
    let runs = 0
    await db.transaction(async tx => {
      runs++
      void tx.rows(failOnce(code)).catch(() => {})
      await tx.rows(sql`insert into things values (${runs})`)
    })
    expect(runs).toBe(2)
    expect(await things()).toEqual([2])
  })

test('a lock that an earlier statement did not get is reported as such', async () => {
  await db.rows(sql`insert into things values (7)`)
  const letGo = await lockRows(database.url, 'select 1 from things where id = 7')
  const work = db.transaction(async tx => {
    void tx.rows(sql`select 1 from things where id = 7 for update nowait`).catch(() => {})
    await tx.rows(sql`select 1`)
  })
  await expect(work).rejects.toBeInstanceOf(Locked)
  await letGo()
})

test('a connection that was left in a failed transaction is replaced', async () => {
  for (const use of [() => things(), () => db.transaction(tx => tx.rows(sql`select 1`))]) {
    await db.rows(sql`begin`)
    await expect(db.rows(divideByZero)).rejects.toMatchObject({ code: '22012' })
    await use()
  }
})

test('prepared statements that are gone, as behind a pooler that switches servers, are prepared anew', async () => {
  const ask = () => db.rows(named('pipelined_select')`select ${1}::integer as one`)
  await ask()
  await db.rows(sql`deallocate all`)
  expect(await ask()).toEqual([{ one: 1 }])
  await db.rows(sql`deallocate all`)
  expect(
    await db.transaction(async tx => tx.rows(named('pipelined_select')`select ${1}::integer as one`)),
  ).toEqual([{ one: 1 }])
})

test('planner settings that fail in a transaction report its first error, and are sent again later', async () => {
  const planned = named(
    'pipelined_plan',
  )`select current_setting('plan_cache_mode') as mode, ${1}::integer as one`
  const work = db.transaction(async tx => {
    void tx.rows(divideByZero).catch(() => {})
    await tx.rows(planned)
  })
  await expect(work).rejects.toMatchObject({ code: '22012' })
  expect(await db.rows(planned)).toEqual([{ mode: 'force_generic_plan', one: 1 }])
})

// The rest a real server cannot be made to answer.
const good = (text: string): Answer => {
  if (text === 'begin') return { tag: 'BEGIN', status: 'T' }
  if (text === 'commit') return { tag: 'COMMIT' }
  if (text === 'rollback') return { tag: 'ROLLBACK' }
  return { tag: 'SELECT 0', status: 'T' }
}

for (const [words, first] of [
  ['a `begin` that fails while the statements behind it pass', { begin: { error: '57014' }, other: 'I' }],
  ['a `begin` that is answered, but opens no transaction', { begin: { tag: 'BEGIN' }, other: 'I' }],
  [
    'a `commit` that rolls back',
    { begin: { tag: 'BEGIN', status: 'T' }, other: 'T', commit: { tag: 'ROLLBACK' } },
  ],
] as const)
  test(`${words}: the work runs again on another connection`, async () => {
    const server = await startScripted((text, connection) => {
      if (connection > 1) return good(text)
      if (text === 'begin') return first.begin
      if (text === 'commit' && 'commit' in first) return first.commit
      return { ...good(text), ...(text === 'select 1' && { status: first.other }) }
    })
    const scripted = openDb(server.url, 1)
    let runs = 0
    await scripted.transaction(async tx => {
      runs++
      await tx.rows(sql`select 1`)
      void tx.writeWithCommit(sql`select 2`)
    })
    expect([runs, server.connections]).toEqual([2, 2])
    expect(server.seen.filter(text => text === 'select 2')).toHaveLength('commit' in first ? 2 : 1)
    await scripted.end()
    await server.stop()
  })

test('a worker of a sharded database is gone: its statement is repeated once, on the same connection', async () => {
  const server = await startScripted(text => (text === 'select 1' ? { error: '08006' } : good(text)))
  const scripted = openDb(server.url, 1)
  await expect(scripted.rows(sql`select 1`)).rejects.toThrow(ShardUnavailable)
  await expect(scripted.transaction(tx => tx.rows(sql`select 1`))).rejects.toThrow(ShardUnavailable)
  expect(server.seen.filter(text => text === 'select 1')).toHaveLength(4)
  expect(server.connections).toBe(1)
  await scripted.end()
  await server.stop()
})

test('a rollback that fails: the connection is replaced', async () => {
  const server = await startScripted((text, connection) => {
    if (connection === 1 && text === 'rollback') return { error: 'XX000', status: 'E' }
    return text === 'select 1' && connection === 1 ? { error: '22012', status: 'E' } : good(text)
  })
  const scripted = openDb(server.url, 1)
  await scripted.transaction(tx => tx.rows(sql`select 1`))
  expect(server.connections).toBe(2)
  await scripted.end()
  await server.stop()
})

test('a server that never commits: unavailable, and not reported as done', async () => {
  const server = await startScripted(text => (text === 'commit' ? { tag: 'ROLLBACK' } : good(text)))
  const scripted = openDb(server.url, 1)
  const work = scripted.withDeadline(performance.now() + 300).transaction(tx => tx.rows(sql`select 1`))
  await expect(work).rejects.toBeInstanceOf(Unavailable)
  await scripted.end()
  await server.stop()
})
