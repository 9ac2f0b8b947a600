import { type Login, openSession, type Session } from '../session.ts'

// PostgreSQL turns new connections away as soon as it is asked to stop, and a guest may still need some. So
// guests share a lock for as long as they stay, and whoever stops the server waits to have it alone: those
// who are in may finish, nobody else gets in. (This server is always a single one, so a lock in it will do.)
const lock = 7_065_327

export async function takeGuestLock(sockets: string, login: Login): Promise<Session | undefined> {
  const session = await openSession(sockets, login, `tollgate guest ${process.pid}`)
  const { rows } = await session.client.query<{ entered: boolean }>(
    `select pg_try_advisory_lock_shared(${lock}) as entered`,
  )
  if (rows[0]?.entered) {
    session.keepAwake(false)
    return session
  }
  await session.close()
  return undefined
}

export async function closeToGuests(sockets: string, login: Login, withinMs: number): Promise<Session> {
  const session = await openSession(sockets, login, 'tollgate stop')
  await session.client.query(`set lock_timeout = ${withinMs}`)
  await session.client.query(`select pg_advisory_lock(${lock})`).catch(() => {}) // somebody stays too long
  return session
}
