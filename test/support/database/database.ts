import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { inject } from 'vitest'

export type FreshDatabase = { url: string; drop(): Promise<void> }

// For one test file each: an empty database, and one with all tables. Close your connections before you drop it; those
// left are cut.
export const freshDatabase = () => createDatabase('template1')
export const migratedDatabase = () => createDatabase(inject('migratedDatabase'))

async function createDatabase(like: string): Promise<FreshDatabase> {
  const server = inject('databaseUrl')
  const name = `test_${randomBytes(8).toString('hex')}`
  await query(server, `create database ${name} template ${like} strategy file_copy`)
  return {
    url: server.replace('/tollgate?', `/${name}?`),
    drop: () => dropDatabase(server, name),
  }
}

// Not by force: who is no superuser may not force the server's own sweeper to go, which goes when it is asked.
async function dropDatabase(server: string, name: string) {
  await query(
    server,
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and usename = current_user',
    [name],
  )
  await query(server, `drop database ${name}`)
}

// One statement on a connection of its own.
export async function query(url: string, text: string, values: unknown[] = []) {
  const client = new Client({ connectionString: url })
  client.on('error', () => {}) // a server that stops under it is told by the statement
  await client.connect()
  try {
    return (await client.query(text, values)).rows
  } finally {
    await client.end()
  }
}
