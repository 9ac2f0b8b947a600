import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { announcedProcessId, detectPooler } from './connections/pooler.ts'
import { connectToPrimary } from './connections/primarySession.ts'
import { oldPrimaryError, timelineColumn } from './connections/timelines.ts'
import { type Db, sql, type Tx } from './db.ts'

const channel = 'tollgate'
const presenceLocks = 0x746f6c6c // the first key of the advisory locks; the second is the number of the node
const connectTimeoutMs = 1000
const queryTimeoutMs = 10_000
const keepAliveMs = 5000

// A connection to the primary outside of the pool. On it the node receives wake-ups (LISTEN/NOTIFY) and holds an
// advisory lock under its number, which shows other nodes that it is alive. Both end with the connection.
export type NodeSession = {
  isOpen(): boolean
  notify(payload: string): Promise<void>
  presentNodes(): Promise<number[]> // the numbers of all nodes that hold their lock
  close(): Promise<void>
}

// Called with the payload of each notification that another connection has sent.
type OnNotification = (payload: string) => void

async function openNodeSession(db: Db, number: number, onNotification: OnNotification): Promise<NodeSession> {
  const options = {
    application_name: 'tollgate node',
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  }
  const { client, host, isOpen } = await connectToPrimary(db.sessionUrl, options, db.acceptsTimeline)
  try {
    const ownProcessId = await processOf(client, host)
    client.on('notification', ({ processId, payload = '' }) => {
      if (processId !== ownProcessId) onNotification(payload) // PostgreSQL sends a notification to its sender, too
    })
    await listenAndLock(client, number)
  } catch (error) {
    void client.end().catch(() => {})
    throw error
  }
  return {
    isOpen,
    notify: async payload => void (await client.query(notifyWithoutFlush, [channel, payload])),
    // The primary may have become an old one since: other nodes hold their locks on another server.
    async presentNodes() {
      const { rows } = await client.query<{ timeline: number | null; numbers: number[] }>(
        lockHoldersOfPrimary.text,
        lockHoldersOfPrimary.values,
      )
      if (!db.acceptsTimeline(rows[0]?.timeline ?? null)) throw oldPrimaryError()
      return rows[0]?.numbers ?? []
    },
    close: () => client.end(),
  }
}

// The process of the primary that this connection has for itself. Behind a pooler in transaction mode it has none: LISTEN
// and the lock would stay in a session that other programs use.
async function processOf(client: pg.Client, host: string): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const pid = rows[0]?.pid
  if (pid !== announcedProcessId(client) && (await detectPooler(host)) !== 'session')
    throw new CannotListen('a pooler gives each transaction another session')
  return pid
}

async function listenAndLock(client: pg.Client, number: number) {
  await client.query(`listen ${channel}`)
  const lock = await client.query<{ acquired: boolean }>('select pg_try_advisory_lock($1, $2) as acquired', [
    presenceLocks,
    number,
  ])
  if (!lock.rows[0]?.acquired) throw new Error('the previous connection of this node still holds its lock')
}

// A wake-up may be lost, so the commit does not wait for the disk.
const notifyWithoutFlush = `select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`

const lockHolders = sql`
  select distinct objid::bigint::integer as number from pg_locks
  where locktype = 'advisory' and classid = ${presenceLocks}::integer::oid and objsubid = 2 and granted
    and database = (select oid from pg_database where datname = current_database())`

const lockHoldersOfPrimary = sql`
  select ${sql([timelineColumn])}, array(${lockHolders}) as numbers`

// By a connection of the pool: the numbers of all nodes that hold their lock.
export const presentNodes = async (tx: Tx) =>
  (await tx.rows<{ number: number }>(lockHolders)).map(row => row.number)

// Notifies all nodes by a connection of the pool.
export const notifyNodes = (tx: Tx, payload: string) => tx.rows(sql`select pg_notify(${channel}, ${payload})`)

export class CannotListen extends Error {}

const proofTimeoutMs = 2000

// A node session that is proven to receive notifications of other connections.
export async function openListeningSession(
  db: Db,
  number: number,
  onNotification: OnNotification,
): Promise<NodeSession> {
  const proof = `proof ${number}`
  const received = new AbortController()
  const session = await openNodeSession(db, number, payload =>
    payload === proof ? received.abort() : onNotification(payload),
  )
  try {
    await notifyNodes(db, proof)
    await sleep(proofTimeoutMs, undefined, { signal: received.signal }).catch(() => {})
    if (!received.signal.aborted)
      throw new CannotListen('the notification of another connection did not arrive')
    return session
  } catch (error) {
    void session.close().catch(() => {})
    throw error
  }
}
