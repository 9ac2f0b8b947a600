import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { detectPooler } from '../../src/store/connections/pooler.ts'
import { type Db, named, openDb, sql } from '../../src/store/db.ts'
import { migrate } from '../../src/store/migrate/migrate.ts'
import { migrationNames } from '../../src/store/migrate/migrationList.ts'
import { CannotListen, openListeningSession } from '../../src/store/nodeSession.ts'
import { whyNotSessionUrl } from '../../src/store/sessionUrl.ts'
import { type FreshDatabase, freshDatabase, migratedDatabase, query } from '../support/database/database.ts'
import { newPgBouncer, oldPgBouncer, type PgBouncer, startPgBouncer } from '../support/database/pgBouncer.ts'

let database: FreshDatabase
const running: PgBouncer[] = []
const opened: Db[] = []

beforeAll(async () => {
  database = await migratedDatabase()
  await query(database.url, 'create table things (id integer primary key)')
})
afterEach(async () => {
  for (const db of opened.splice(0)) await db.end()
  for (const pooler of running.splice(0)) await pooler.stop()
})
afterAll(() => database.drop())

const transactionMode = { pool_mode: 'transaction', max_prepared_statements: 200 }

async function pool(file: string | undefined, settings: Record<string, string | number>, { url } = database) {
  const pooler = await startPgBouncer(file as string, url, settings)
  running.push(pooler)
  return pooler
}

function open(url: string, connections: number, sessionUrl?: string) {
  const db = openDb(url, connections, 'tollgate', sessionUrl)
  opened.push(db)
  return db
}

test('a connection to PostgreSQL itself has no pooler', async () => {
  expect(await detectPooler(database.url)).toBe('none')
})

for (const [title, file, settings, found] of [
  ['before 1.21, in transaction mode', oldPgBouncer, { pool_mode: 'transaction' }, 'unprepared'],
  [
    'before 1.21, that takes its sessions in turn',
    oldPgBouncer,
    { pool_mode: 'transaction', server_round_robin: 1 },
    'unprepared',
  ],
  [
    'before 1.21, with one session',
    oldPgBouncer,
    { pool_mode: 'transaction', default_pool_size: 1 },
    'unprepared',
  ],
  ['before 1.21, in session mode', oldPgBouncer, { pool_mode: 'session' }, 'session'],
  [
    'in session mode, with two sessions',
    newPgBouncer,
    { pool_mode: 'session', default_pool_size: 2 },
    'session',
  ],
  ['in transaction mode', newPgBouncer, transactionMode, 'transaction'],
  [
    'that is not to prepare statements',
    newPgBouncer,
    { pool_mode: 'transaction', max_prepared_statements: 0 },
    'unprepared',
  ],
] as const)
  test.skipIf(!file)(`a PgBouncer ${title} is found to be: ${found}`, async () => {
    expect(await detectPooler((await pool(file, settings)).url)).toBe(found)
    await expect.poll(openTransactions).toBe(0)
  })

test('a pool is pooled behind a pooler only, in whichever mode', async () => {
  const file = oldPgBouncer ?? newPgBouncer
  for (const [url, isPooled] of [
    [database.url, false],
    ...(file ? ([[(await pool(file, { pool_mode: 'session' })).url, true]] as const) : []),
  ] as const) {
    const db = open(url, 1)
    await db.rows(sql`select 1`)
    expect(db.isPooled()).toBe(isPooled)
  }
})

const settingNames = [
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'plan_cache_mode',
  'enable_seqscan',
  'enable_bitmapscan',
  'enable_hashjoin',
  'enable_mergejoin',
]
const readSettings = `select name, setting, source from pg_settings where name = any($1) order by name`
type Setting = { name: string; setting: string }
const ours = sql`select name, setting from pg_settings where name = any(${settingNames}) order by name`
const oursByName = named('our_settings')`
  select name, setting from pg_settings where name = any(${settingNames}) order by name`
const only = (rows: Setting[], pattern: RegExp) =>
  rows.filter(({ name }) => pattern.test(name)).map(({ setting }) => setting)

async function expectSettings(rows: Promise<Setting[]>, isNamed: boolean) {
  const read = await rows
  expect(only(read, /timeout/)).toEqual(['5000', '1000', '8000'])
  expect(only(read, /enable/)).toEqual(Array.from({ length: 4 }, () => (isNamed ? 'off' : 'on')))
  expect(only(read, /plan_cache/)).toEqual([isNamed ? 'force_generic_plan' : 'auto'])
}

for (const [title, file] of [
  ['on a connection to PostgreSQL itself', 'none'],
  ['behind a pooler in transaction mode', newPgBouncer],
] as const)
  test.skipIf(!file)(`the timeouts and the planner settings hold ${title}`, async () => {
    const db = open(file === 'none' ? database.url : (await pool(file, transactionMode)).url, 1)
    for (const isNamed of [false, true, true, false])
      await expectSettings(db.rows(isNamed ? oursByName : ours), isNamed)
    await db.transaction(async tx => {
      await expectSettings(tx.rows(ours), false)
      await expectSettings(tx.rows(oursByName), true)
      await expectSettings(tx.rows(ours), false)
    })
    expect(await db.count(sql`insert into things values (1), (2)`)).toBe(2)
    expect(await db.tuples(sql`delete from things returning id`)).toEqual([[1], [2]])
    await expect(db.rows(sql`select 1 / 0`)).rejects.toMatchObject({ code: '22012' })
    await expectSettings(db.rows(oursByName), true)
  })

// In each of the two sessions of a pool.
async function readTwice(url: string, text: string, values: unknown[] = []) {
  const clients = [new pg.Client(url), new pg.Client(url)]
  const read: (Setting & { source: string })[][] = []
  for (const client of clients) {
    await client.connect()
    await client.query('begin') // so that the other gets the other session
    read.push((await client.query(text, values)).rows)
  }
  for (const client of clients) await client.end()
  return read
}

test.skipIf(!newPgBouncer)('no setting stays in the sessions of the pool', async () => {
  const { url } = await pool(newPgBouncer, { ...transactionMode, default_pool_size: 2 })
  const db = open(url, 4)
  const work = Array.from({ length: 20 }, (_, at) =>
    at % 2 ? db.rows(oursByName) : db.transaction(tx => tx.rows(oursByName)),
  )
  await Promise.all(work)
  for (const rows of await readTwice(url, readSettings, [settingNames])) {
    expect(rows.filter(({ source }) => source === 'session')).toEqual([])
    expect(only(rows, /timeout/)).toEqual(['0', '0', '0'])
  }
})

const openTransactions = async () =>
  (
    await query(
      database.url,
      `select from pg_stat_activity where state like 'idle in%' and datname = current_database()`,
    )
  ).length

const oneSession = { ...transactionMode, default_pool_size: 1 }
const ignore = () => {}

test.skipIf(!newPgBouncer)('a node leaves no lock and no LISTEN in a session of the pool', async () => {
  const { url } = await pool(newPgBouncer, oneSession)
  await expect(openListeningSession(open(url, 2), 4711, ignore)).rejects.toBeInstanceOf(CannotListen)
  expect(
    await query(database.url, `select from pg_locks where locktype = 'advisory' and objid = 4711`),
  ).toEqual([])
  expect(await query(url, 'select pg_listening_channels()')).toEqual([])
})

test.skipIf(!newPgBouncer)(
  'with a direct address it receives what others send, and not what it sends',
  async () => {
    const db = open((await pool(newPgBouncer, oneSession)).url, 2, database.url)
    expect(await whyNotSessionUrl(db)).toBeUndefined()
    const received: string[] = []
    const one = await openListeningSession(db, 1, payload => received.push(`one ${payload}`))
    const other = await openListeningSession(db, 2, payload => received.push(`other ${payload}`))
    await one.notify('pollers')
    await other.notify('senders')
    await expect.poll(() => received.filter(text => !text.includes('proof')).length).toBe(2)
    expect(received).toEqual(expect.arrayContaining(['other pollers', 'one senders']))
    expect(new Set(await one.presentNodes())).toEqual(new Set([1, 2]))
    await one.close()
    await other.close()
  },
)

test.skipIf(!newPgBouncer)('behind a pooler in session mode too', async () => {
  const db = open((await pool(newPgBouncer, { pool_mode: 'session' })).url, 1)
  const received: string[] = []
  const node = await openListeningSession(db, 3, payload => received.push(payload))
  await node.notify('own')
  await query(database.url, `select pg_notify('tollgate', 'of another')`)
  await expect.poll(() => received).toEqual(['of another'])
  await node.close()
})

test.skipIf(!newPgBouncer)('a direct address that is a pooler or another database is refused', async () => {
  const { url } = await pool(newPgBouncer, transactionMode)
  const another = await freshDatabase()
  expect(await whyNotSessionUrl(open(database.url, 1, url))).toMatchObject({
    todo: 'Set it to PostgreSQL itself.',
  })
  expect(await whyNotSessionUrl(open(url, 1, another.url))).toMatchObject({
    todo: 'Set both to the same database.',
  })
  expect(await whyNotSessionUrl(open(url, 1, 'postgres://nobody@127.0.0.1:1/none'))).toBeUndefined()
  await another.drop()
})

for (const isDirect of [false, true])
  test.skipIf(!newPgBouncer)(
    `a database is migrated ${isDirect ? 'past' : 'through'} a pooler, and no setting stays in it`,
    async () => {
      const empty = await freshDatabase()
      const pooler = await pool(newPgBouncer, { ...transactionMode, default_pool_size: 2 }, empty)
      const db = open(pooler.url, 2, isDirect ? empty.url : undefined)
      expect(await migrate(db)).toEqual(migrationNames())
      const own = [
        'application_name',
        'client_encoding',
        'DateStyle',
        'TimeZone',
        'standard_conforming_strings',
      ]
      for (const rows of await readTwice(pooler.url, `select * from pg_settings where source = 'session'`))
        expect(rows.map(({ name }) => name).filter(name => !own.includes(name))).toEqual([])
      await db.end()
      opened.splice(0)
      await running.splice(0)[0]?.stop()
      await empty.drop()
    },
    60_000,
  )
