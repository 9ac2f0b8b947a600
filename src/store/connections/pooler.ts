import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { HostClient } from './hostClient.ts'
import { hostsOf } from './hosts.ts'

const connectTimeoutMs = 3000
const queryTimeoutMs = 2000
const maxOthers = 3

// What is between this program and PostgreSQL:
//   none: this program's connection is a session of the server.
//   session: a pooler that gives a connection one session for as long as it is open.
//   transaction: a pooler that gives each transaction any session, and prepares our statements in each of them.
//   unprepared: the same, but a statement that was prepared in one transaction is unknown to the next. Tollgate cannot run.
export type Pooler = 'none' | 'session' | 'transaction' | 'unprepared'

// The id of the server process, as the connection announced it. A pooler announces an id of its own, because its
// connection has no process. Null before it is connected.
export const announcedProcessId = (client: pg.ClientBase) =>
  (client as unknown as { processID: number | null }).processID

// Detects it by behaviour, on connections of its own. Throws the error of the last host if none accepts a connection.
export async function detectPooler(url: string): Promise<Pooler> {
  let failure: unknown
  for (const host of hostsOf(url))
    try {
      return await withClients(host, connect => detect(connect))
    } catch (error) {
      failure = error
    }
  throw failure
}

type Connect = () => Promise<pg.Client>

async function detect(connect: Connect): Promise<Pooler> {
  const first = await connect()
  const announced = announcedProcessId(first)
  if ((await processIdOf(first)) === announced) return 'none'
  const name = `tollgate_probe_${randomUUID()}`
  await first.query('begin')
  const { rows } = await first.query({ name, text: ownStatement(name) })
  const { pid, is_unchanged } = rows[0] as { pid: number; is_unchanged: boolean }
  await first.query('commit')
  // A pooler that prepares statements in each session gives them names of its own.
  if (!is_unchanged) return 'transaction'
  return (await usesSessionOf(first, { pid, name }, connect)) ? 'unprepared' : 'session'
}

const ownStatement = (name: string) =>
  `select pg_backend_pid() as pid, exists (select from pg_prepared_statements where name = '${name}') as is_unchanged`

const processIdOf = async (client: pg.Client): Promise<number> =>
  (await client.query('select pg_backend_pid() as pid')).rows[0].pid

// Whether the session in which `first` prepared its statement serves other connections, too. They hold the sessions that
// they get, so that a pool with few of them has to give them this one.
async function usesSessionOf(
  first: pg.Client,
  { pid, name }: { pid: number; name: string },
  connect: Connect,
) {
  for (let others = 0; others < maxOthers; others++) {
    const other = await connect()
    try {
      await other.query('begin')
      if ((await processIdOf(other)) !== pid) continue
      await other.query(`deallocate "${name}"`)
      return true
    } catch (error) {
      if (!/timeout/i.test(String(error))) throw error
      break // a pool for sessions that has no free one
    }
  }
  return (await processIdOf(first)) !== pid
}

async function withClients<T>(connectionString: string, work: (connect: Connect) => Promise<T>) {
  const clients: pg.Client[] = []
  try {
    return await work(async () => {
      const client = new HostClient(connectionString, {
        application_name: 'tollgate start',
        connectionTimeoutMillis: connectTimeoutMs,
        query_timeout: queryTimeoutMs,
      })
      client.on('error', () => {})
      clients.push(client)
      await client.connect()
      return client
    })
  } finally {
    for (const client of clients) void client.end().catch(() => {})
  }
}

// The limits that PgBouncer shows to users in admin_users or stats_users; undefined if this is another pooler, or it does
// not show them to this user.
export async function readPoolerLimits(url: string): Promise<ReadonlyMap<string, string> | undefined> {
  const console = url.replace(/^(postgres(?:ql)?:\/\/[^/]*)\/[^?]*/, '$1/pgbouncer')
  for (const host of hostsOf(console))
    try {
      return await withClients(host, async connect => {
        const { rows } = await (await connect()).query<{ key: string; value: string }>('show config')
        return new Map(rows.map(({ key, value }) => [key, value]))
      })
    } catch {
      // The next host may show them.
    }
  return undefined
}

// For the operator.
export const poolerWithoutStatements = {
  fact: 'the connection pooler gives each transaction another session, and does not prepare statements in each of them',
  todo:
    'Use PgBouncer 1.21 or later with max_prepared_statements = 200, or pool_mode = session, or set DATABASE_URL to ' +
    'PostgreSQL itself (docs/database.md).',
}
