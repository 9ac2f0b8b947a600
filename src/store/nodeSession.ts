import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { hostsOf } from './connections/hosts.ts'
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
  setLabel(label: string): Promise<void> // the name of the connection, for the operator's pages
  close(): Promise<void>
}

// Called with the payload of each notification that another connection has sent.
type OnNotification = (payload: string) => void

async function openNodeSession(
  url: string,
  number: number,
  onNotification: OnNotification,
): Promise<NodeSession> {
  let failure: unknown
  for (const host of hostsOf(url))
    try {
      return await open(host, number, onNotification)
    } catch (error) {
      failure = error
    }
  throw failure
}

async function open(host: string, number: number, onNotification: OnNotification): Promise<NodeSession> {
  const client = new pg.Client({
    connectionString: host,
    application_name: 'tollgate node',
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  })
  client.on('error', () => {}) // 'end' follows
  // PostgreSQL sends a notification to its sender, too. Behind a pooler the process id is the pooler's, and this node also
  // receives its own notifications.
  const ownProcessId = () => (client as unknown as { processID: number | null }).processID
  client.on('notification', ({ processId, payload = '' }) => {
    if (processId !== ownProcessId()) onNotification(payload)
  })
  try {
    await client.connect()
    await listenAndLock(client, number)
  } catch (error) {
    void client.end().catch(() => {})
    throw error
  }
  let isOpen = true
  client.on('end', () => (isOpen = false))
  return {
    isOpen: () => isOpen,
    notify: async payload => void (await client.query(notifyWithoutFlush, [channel, payload])),
    async presentNodes() {
      const { rows } = await client.query<{ number: number }>(lockHolders, [presenceLocks])
      return rows.map(row => row.number)
    },
    setLabel: async label => void (await client.query(nameConnection, [label])),
    close: () => client.end(),
  }
}

async function listenAndLock(client: pg.Client, number: number) {
  const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
  if (rows[0]?.standby) throw new Error('this server is a standby')
  await client.query(`listen ${channel}`)
  const lock = await client.query<{ acquired: boolean }>('select pg_try_advisory_lock($1, $2) as acquired', [
    presenceLocks,
    number,
  ])
  if (!lock.rows[0]?.acquired) throw new Error('the previous connection of this node still holds its lock')
}

// A wake-up may be lost, so the commit does not wait for the disk.
const notifyWithoutFlush = `select set_config('synchronous_commit', 'off', true), pg_notify($1, $2)`

// Takes no transaction id, so that an idle node commits nothing.
const nameConnection = `select set_config('application_name', $1, false)`

const lockHolders = `select distinct objid::bigint::integer as number from pg_locks
  where locktype = 'advisory' and classid = $1::integer::oid and objsubid = 2 and granted
    and database = (select oid from pg_database where datname = current_database())`

// The nodes that hold their lock, with the names of their connections and since when these are open.
export const listNodeLabels = (tx: Tx) =>
  tx.rows<{ number: number; label: string; connected_at: Date }>(sql`
    select l.objid::bigint::integer as number, a.application_name as label, min(a.backend_start) as connected_at
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'advisory' and l.classid = ${presenceLocks}::integer::oid and l.objsubid = 2 and l.granted
      and l.database = (select oid from pg_database where datname = current_database())
    group by 1, 2 order by 2`)

// Notifies all nodes by a connection of the pool.
const notifyNodes = (tx: Tx, payload: string) => tx.rows(sql`select pg_notify(${channel}, ${payload})`)

export class CannotListen extends Error {}

const proofTimeoutMs = 2000

// A node session that is proven to receive notifications of other connections. Behind a transaction-mode pooler it does
// not, and its lock would belong to a connection that other clients use.
export async function openListeningSession(
  db: Db,
  number: number,
  onNotification: OnNotification,
): Promise<NodeSession> {
  const proof = `proof ${number}`
  const received = new AbortController()
  const session = await openNodeSession(db.url, number, payload =>
    payload === proof ? received.abort() : onNotification(payload),
  )
  try {
    await notifyNodes(db, proof)
    await sleep(proofTimeoutMs, undefined, { signal: received.signal }).catch(() => {})
    if (!received.signal.aborted)
      throw new CannotListen(
        'LISTEN/NOTIFY does not work on this connection (transaction-mode pooler?); falling back to polling',
      )
    return session
  } catch (error) {
    void session.close().catch(() => {})
    throw error
  }
}
