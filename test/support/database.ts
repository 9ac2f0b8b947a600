import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { inject } from 'vitest'

export type FreshDatabase = { url: string; drop(): Promise<void> }

// An empty database for one test file. Close your connections before you drop it; those left are cut.
export async function freshDatabase(): Promise<FreshDatabase> {
  const server = inject('databaseUrl')
  const name = `test_${randomBytes(8).toString('hex')}`
  await query(server, `create database ${name}`)
  return {
    url: server.replace('/tollgate?', `/${name}?`),
    drop: async () => void (await query(server, `drop database ${name} with (force)`)),
  }
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
