import { Socket } from 'node:net'
import { Client, type QueryResultRow } from 'pg'
import { database } from './access.ts'
import { application } from './folder/password.ts'

const connectTimeoutMs = 5000

// Port and sslmode are spelled out, else PGPORT and PGSSLMODE in the environment would have a say.
export const urlOf = (sockets: string, password: string) =>
  `postgres://${application}:${password}@/${database}?host=${encodeURIComponent(sockets)}&port=5432&sslmode=disable`

export type Login = { user: string; password?: string; database: string }

export const loginWith = (password: string): Login => ({ user: application, password, database })

export type Session = {
  client: Client
  keepAwake(awake: boolean): void // whether Node waits for its end
  close(): Promise<void>
}

export async function openSession(sockets: string, login: Login, name: string): Promise<Session> {
  const socket = new Socket()
  const client = new Client({
    host: sockets,
    port: 5432,
    ssl: false,
    password: '', // or PGPASSWORD and ~/.pgpass would have a say
    ...login,
    application_name: name,
    connectionTimeoutMillis: connectTimeoutMs,
    stream: () => socket,
  })
  client.on('error', () => {}) // the statement that was running tells it again
  await client.connect()
  return {
    client,
    keepAwake: awake => (awake ? socket.ref() : socket.unref()),
    close: () => {
      socket.ref() // or Node could end before the goodbye is said
      return client.end().catch(() => {})
    },
  }
}

export async function ask<Row extends QueryResultRow>(
  sockets: string,
  login: Login,
  text: string,
): Promise<Row[]> {
  const session = await openSession(sockets, login, 'tollgate start')
  try {
    return (await session.client.query<Row>(text)).rows
  } finally {
    await session.close()
  }
}
