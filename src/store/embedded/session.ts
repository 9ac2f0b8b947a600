import { Socket } from 'node:net'
import { Client, type QueryResultRow } from 'pg'

const connectTimeoutMs = 5000
const reopenAfterMs = 1000

// Port and sslmode are spelled out, else PGPORT and PGSSLMODE in the environment would have a say.
export const urlOf = (sockets: string) =>
  `postgres://tollgate@/tollgate?host=${encodeURIComponent(sockets)}&port=5432&sslmode=disable`

async function connect(sockets: string, database: string, application_name: string, socket = new Socket()) {
  const client = new Client({
    host: sockets,
    port: 5432,
    ssl: false,
    user: 'tollgate',
    database,
    application_name,
    connectionTimeoutMillis: connectTimeoutMs,
    stream: () => socket,
  })
  client.on('error', () => {}) // the statement that was running tells it again
  await client.connect()
  return client
}

async function ask<Row extends QueryResultRow>(sockets: string, database: string, text: string) {
  const client = await connect(sockets, database, 'tollgate start')
  try {
    return (await client.query<Row>(text)).rows
  } finally {
    await client.end()
  }
}

export async function ensureDatabase(sockets: string) {
  const [found] = await ask(sockets, 'postgres', `select 1 from pg_database where datname = 'tollgate'`)
  if (!found) await ask(sockets, 'postgres', 'create database tollgate')
}

// A session with nothing to do but to be seen by others on the same data: "tollgate gateway 1234".
export type Sign = { close(): Promise<void> }

export async function hangSign(sockets: string, role: string): Promise<Sign> {
  let socket: Socket | undefined
  let client: Client | undefined
  let closed = false
  const open = async () => {
    socket = new Socket()
    client = await connect(sockets, 'tollgate', `tollgate ${role} ${process.pid}`, socket)
    socket.unref() // a command may end while it hangs
    client.once('end', again)
    if (closed) await client.end()
  }
  const again = () => {
    if (!closed) setTimeout(() => void open().catch(again), reopenAfterMs).unref()
  }
  await open()
  return {
    close: async () => {
      closed = true
      socket?.ref() // or Node could end while we wait for the goodbye
      await client?.end().catch(() => {})
    },
  }
}

// The process ids of those who hang out a sign.
export async function readSigns(sockets: string, role: string): Promise<number[]> {
  const rows = await ask<{ pid: number }>(
    sockets,
    'postgres',
    `select substring(application_name from '\\d+$')::int as pid
     from pg_stat_activity where application_name ~ '^tollgate ${role} \\d+$'`,
  )
  return rows.map(row => row.pid)
}
