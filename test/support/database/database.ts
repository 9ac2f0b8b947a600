import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { inject } from 'vitest'

export type FreshDatabase = { url: string; drop(): Promise<void> }

// Databases for one test file: an empty one, and one with all tables. Close all connections before dropping it; remaining
// ones are terminated.
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
