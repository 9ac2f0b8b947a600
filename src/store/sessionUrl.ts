import { randomInt } from 'node:crypto'
import { HostClient } from './connections/hostClient.ts'
import { hostsOf } from './connections/hosts.ts'
import { detectPooler } from './connections/pooler.ts'
import { type Db, sql } from './db.ts'

const timeoutMs = 3000

// Why TOLLGATE_DIRECT_DATABASE_URL is of no use, and what to do; undefined if it is not set, leads to sessions of the same
// database, or cannot be reached now.
export async function whyNotSessionUrl(db: Db): Promise<{ fact: string; todo: string } | undefined> {
  const { url, sessionUrl } = db
  if (sessionUrl === url) return undefined
  const pooler = await detectPooler(sessionUrl).catch(() => undefined)
  if (pooler === undefined) return undefined
  if (pooler === 'transaction' || pooler === 'unprepared')
    return {
      fact: 'TOLLGATE_DIRECT_DATABASE_URL leads to a pooler that gives each transaction another session',
      todo: 'Set it to PostgreSQL itself.',
    }
  if (await isSameDatabase(db)) return undefined
  return {
    fact: 'TOLLGATE_DIRECT_DATABASE_URL leads to another database than DATABASE_URL',
    todo: 'Set both to the same database.',
  }
}

// A lock that a transaction holds is seen by the other connection. This needs no privilege and no table.
const isSameDatabase = (db: Db): Promise<boolean> =>
  db.transaction(async tx => {
    const [first, second] = [randomInt(1, 2 ** 31), randomInt(1, 2 ** 31)]
    await tx.rows(sql`select pg_advisory_xact_lock(${first}::integer, ${second}::integer)`)
    const seen = await Promise.all(hostsOf(db.sessionUrl).map(host => seesLock(host, first, second)))
    return seen.includes(true)
  })

const lockIn = `
  select from pg_locks where locktype = 'advisory' and classid = $1::integer::oid and objid = $2::integer::oid
    and database = (select oid from pg_database where datname = current_database())`

async function seesLock(connectionString: string, first: number, second: number): Promise<boolean> {
  const client = new HostClient(connectionString, {
    application_name: 'tollgate start',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query(lockIn, [first, second])).rowCount === 1
  } catch {
    return false
  } finally {
    void client.end().catch(() => {})
  }
}
