import pg from 'pg'
import { databaseUrlParts } from '../../core/databaseUrl.ts'
import { HostClient } from './hostClient.ts'

const probeTimeoutMs = 1000
const connectTimeoutMs = 3000

// postgres://user@a:5432,b:5433/db names several hosts, as in libpq. Returns one URL for each.
export function hostsOf(url: string): string[] {
  const { scheme, login, hosts, rest } = databaseUrlParts(url)
  return hosts.split(',').map(host => `${scheme}${login}${host}${rest}`)
}

// Why none of the hosts accepts a new connection; undefined if one does.
export async function whyNoConnection(url: string): Promise<string | undefined> {
  let why: string | undefined
  for (const connectionString of hostsOf(url)) {
    let client: HostClient | undefined
    try {
      client = new HostClient(connectionString, {
        application_name: 'tollgate start',
        connectionTimeoutMillis: connectTimeoutMs,
      })
      client.on('error', () => {})
      await client.connect()
      return undefined
    } catch (error) {
      why = (error as Error).message
    } finally {
      void client?.end().catch(() => {})
    }
  }
  return why
}

// Whether a host accepts connections and does not answer, and no host is a working primary.
export async function isSilent(hosts: readonly string[]): Promise<boolean> {
  const found = await Promise.all(hosts.map(probe))
  return found.includes('silent') && !found.includes('primary')
}

// Includes a commit: a server whose disk or synchronous standby hangs still answers reads.
const probeQuery = `select case when pg_is_in_recovery() then null
  else pg_logical_emit_message(true, 'tollgate', 'health check')::text end as answer`

// A server that returns an error has answered, and so has a machine that refuses the connection.
async function probe(connectionString: string): Promise<'primary' | 'standby' | 'refused' | 'silent'> {
  let client: HostClient | undefined
  try {
    client = new HostClient(connectionString, {
      application_name: 'tollgate health',
      connectionTimeoutMillis: probeTimeoutMs,
      query_timeout: probeTimeoutMs,
    })
    client.on('error', () => {})
    await client.connect()
    const { rows } = await client.query<{ answer: string | null }>(probeQuery)
    return rows[0]?.answer === null ? 'standby' : 'primary'
  } catch (error) {
    if (/timeout/i.test(String(error))) return 'silent'
    return error instanceof pg.DatabaseError ? 'primary' : 'refused'
  } finally {
    void client?.end().catch(() => {}) // not awaited: a server that hangs does not close the connection
  }
}
