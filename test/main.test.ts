import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '../src/config.ts'
import { startGateway } from '../src/main.ts'
import { openDatabase } from '../src/start/database.ts'
import { sql } from '../src/store/db.ts'
import { migrate } from '../src/store/migrate/migrate.ts'
import { newMasterKey, postmasterOf, temporaryFolder, tollgate } from './cli/tollgate.ts'
import { type FreshDatabase, freshDatabase, query } from './support/database/database.ts'

let database: FreshDatabase
beforeAll(async () => void (database = await freshDatabase()))
afterAll(() => database.drop())

const atWork = () => process.getActiveResourcesInfo().filter(name => /Timeout|TCP/.test(name))

const connections = () =>
  query(
    database.url,
    `select application_name from pg_stat_activity where datname = current_database() and application_name like 'tollgate%'`,
  )

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address ? String(address.port) : ''
}

test('a start that fails at its last step stops everything that it started', async () => {
  const PORT = await freePort()
  const config = readConfig({
    PORT,
    DATABASE_URL: database.url,
    TOLLGATE_MASTER_KEY: newMasterKey(),
    SMPP_URL: 'smpp://us@127.0.0.1:1', // it connects again and again, as long as it is not closed
    SMPP_FROM: 'Tollgate',
  })
  const lines: string[] = []
  const write = (line: string) => {
    if (line.includes('"listening"')) throw new Error('the disk of the log is full')
    lines.push(line)
  }
  await expect(startGateway(config, { log: pino({ level: 'debug' }, { write }) })).rejects.toThrow(
    'the disk of the log is full',
  )
  await expect.poll(connections).toEqual([])
  await expect(once(connect(Number(PORT), '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED')
  for (let tries = 0; tries < 50 && atWork().length > 0; tries++) await sleep(100) // poll() has a timer, too
  expect(atWork()).toEqual([])
  const said = lines.length
  await sleep(1200)
  expect(lines.slice(said)).toEqual([])
})

// The demo merchant is the last thing that a start with the embedded PostgreSQL creates.
test('a process whose start fails late exits, and its PostgreSQL with it', async () => {
  const TOLLGATE_DATA_DIR = join(temporaryFolder(), 'data')
  const records = await openDatabase(readConfig({ TOLLGATE_DATA_DIR }), 'command')
  await migrate(records.db)
  await records.db.rows(sql`alter table merchants add constraint no_demo check (merchant_id <> 'demoshop00')`)
  await records.close()
  const { code, stderr } = await tollgate({ TOLLGATE_DATA_DIR, PORT: '0', LOG_LEVEL: 'silent' }, 'start')
  expect(code).toBe(70)
  expect(stderr).toContain('violates check constraint "no_demo"')
  expect(postmasterOf(TOLLGATE_DATA_DIR)).toBeUndefined()
})
