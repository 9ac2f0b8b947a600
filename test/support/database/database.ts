import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { inject } from 'vitest'
import { withDatabase } from '../../../src/store/backups/scratchDatabase.ts'
import { openDb } from '../../../src/store/db.ts'
import { migrate } from '../../../src/store/migrate/migrate.ts'

export type FreshDatabase = { url: string; drop(): Promise<void> }

// Databases for one test file: an empty one, and one with all tables. Close all connections before dropping it; remaining
// ones are terminated.
export const freshDatabase = () => (inject('isSharded') ? createOnAllNodes() : createDatabase('template1'))
export const migratedDatabase = () =>
  inject('isSharded') ? createDistributed() : createDatabase(inject('migratedDatabase'))

const newName = () => `test_${randomBytes(8).toString('hex')}`

async function createDatabase(like: string): Promise<FreshDatabase> {
  const server = inject('databaseUrl')
  const name = newName()
  await query(server, `create database ${name} template ${like} strategy file_copy`)
  return {
    url: withDatabase(server, name),
    drop: () => dropDatabase(server, name),
  }
}

// Citus creates and drops a database on the coordinator only.
async function createOnAllNodes(): Promise<FreshDatabase> {
  const server = inject('databaseUrl')
  const name = newName()
  await onWorkers(server, `create database ${name}`)
  await query(server, `create database ${name}`)
  return {
    url: withDatabase(server, name),
    // The first statement ends the maintenance daemon of the coordinator, which is connected to the workers, and fails
    // because theirs are connected to the coordinator.
    async drop() {
      await dropDatabase(server, name).catch(() => {})
      await onWorkers(server, `drop database ${name}`)
      await query(server, `drop database if exists ${name}`)
    },
  }
}

async function onWorkers(coordinator: string, statement: string) {
  const results = await query(coordinator, 'select success, result from run_command_on_workers($1)', [
    statement,
  ])
  const failed = results.find(({ success }) => !success)
  if (failed) throw new Error(`${statement}: ${failed.result}`)
}

async function createDistributed(): Promise<FreshDatabase> {
  const database = await createOnAllNodes()
  const db = openDb(database.url, 1)
  await migrate(db)
  await db.end()
  return database
}

// Not with (force): only a superuser may terminate autovacuum, which gives way by itself.
async function dropDatabase(server: string, name: string) {
  await query(
    server,
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and usename = current_user',
    [name],
  )
  await query(server, `drop database ${name}`)
}

// Runs one statement on a separate connection.
export async function query(url: string, text: string, values: unknown[] = []) {
  const client = new Client({ connectionString: url })
  client.on('error', () => {}) // if the server stops, the statement fails
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}
