import { Socket } from 'node:net'
import { Client, type QueryResultRow } from 'pg'

// Connections to the private server, by its Unix socket. `sockets` is the folder of the socket.

const connectTimeoutMs = 5000

export const superuser = 'tollgate' // without a password: it cannot log in, see access.ts
export const appRole = 'tollgate_app' // owns the one database
export const appDatabase = 'tollgate'

// Port and sslmode are explicit, so that PGPORT and PGSSLMODE in the environment have no effect.
export const socketUrl = (sockets: string, password: string) =>
  `postgres://${appRole}:${password}@/${appDatabase}?host=${encodeURIComponent(sockets)}&port=5432&sslmode=disable`

export type Login = { user: string; password?: string; database: string }

export const appLogin = (password: string): Login => ({ user: appRole, password, database: appDatabase })

type Session = {
  client: Client
  holdProcess(hold: boolean): void // whether Node waits for its end
  close(): Promise<void>
}

async function openSession(sockets: string, login: Login, name: string): Promise<Session> {
  const socket = new Socket()
  const client = new Client({
    host: sockets,
    port: 5432,
    ssl: false,
    password: '', // explicit, so that PGPASSWORD and ~/.pgpass have no effect
    ...login,
    application_name: name,
    connectionTimeoutMillis: connectTimeoutMs,
    stream: () => socket,
  })
  client.on('error', () => {}) // the statement that was running rejects with it
  await client.connect()
  return {
    client,
    holdProcess: hold => (hold ? socket.ref() : socket.unref()),
    close: () => {
      socket.ref() // otherwise Node could exit before the connection is closed
      return client.end().catch(() => {})
    },
  }
}

export async function queryOnce<Row extends QueryResultRow>(
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

const reopenAfterMs = 1000

// An idle session of a gateway, with its process id in the application name. Other processes read from it that a gateway
// runs on this data folder.
export type GatewayMark = { remove(): Promise<void> }

export async function setGatewayMark(sockets: string, login: Login): Promise<GatewayMark> {
  let session: Session | undefined
  let isRemoved = false
  const open = async () => {
    session = await openSession(sockets, login, `tollgate gateway ${process.pid}`)
    session.holdProcess(false)
    session.client.once('end', reopen)
    if (isRemoved) await session.close()
  }
  const reopen = () => {
    if (!isRemoved) setTimeout(() => void open().catch(reopen), reopenAfterMs).unref()
  }
  await open()
  return {
    remove: async () => {
      isRemoved = true
      await session?.close()
    },
  }
}

// The process ids of the gateways on this server: one or none.
export async function readGatewayMarks(sockets: string, login: Login): Promise<number[]> {
  const rows = await queryOnce<{ pid: number }>(
    sockets,
    login,
    `select substring(application_name from '\\d+$')::int as pid
     from pg_stat_activity where application_name ~ '^tollgate gateway \\d+$'`,
  )
  return rows.map(row => row.pid)
}

// A command that joins the server of another process is a guest. A server that is stopping refuses new connections, and a
// guest may still need some. So each guest holds a shared advisory lock, and the process that stops the server waits for
// the exclusive lock: guests may finish, and no new ones get in. The server has no standby or pooler, so the lock is
// reliable.
const guestLock = 7_065_327

// Undefined if the server is about to stop.
export async function takeGuestLock(sockets: string, login: Login): Promise<Session | undefined> {
  const session = await openSession(sockets, login, `tollgate guest ${process.pid}`)
  const { rows } = await session.client.query<{ acquired: boolean }>(
    `select pg_try_advisory_lock_shared(${guestLock}) as acquired`,
  )
  if (rows[0]?.acquired) {
    session.holdProcess(false)
    return session
  }
  await session.close()
  return undefined
}

export async function lockOutGuests(sockets: string, login: Login, withinMs: number): Promise<Session> {
  const session = await openSession(sockets, login, 'tollgate stop')
  await session.client.query(`set lock_timeout = ${withinMs}`)
  await session.client.query(`select pg_advisory_lock(${guestLock})`).catch(() => {}) // a guest has not finished in time
  return session
}
