import pg from 'pg'

const knockWithinMs = 1000
const connectWithinMs = 3000

// postgres://user@a:5432,b:5433/db names several hosts, as libpq does; one URL for each comes back.
export function hostsOf(url: string): string[] {
  const match = /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^/?]*)(.*)$/.exec(url)
  if (!match) return [url]
  const [, before, hosts = '', after] = match
  return hosts.split(',').map(host => `${before}${host}${after}`)
}

// Whether a primary that can be talked to gives no answer. A commit is part of the question: a server whose disk or
// whose synchronous standby hangs still reads.
export async function isSilent(hosts: readonly string[]): Promise<boolean> {
  const heard = await Promise.all(hosts.map(knock))
  return heard.includes('silent') && !heard.includes('primary')
}

// Why none of the hosts accepts a new connection, in words; undefined if one does.
export async function whyNoConnection(url: string): Promise<string | undefined> {
  let why: string | undefined
  for (const connectionString of hostsOf(url)) {
    const client = new pg.Client({
      connectionString,
      application_name: 'tollgate start',
      connectionTimeoutMillis: connectWithinMs,
    })
    client.on('error', () => {})
    try {
      await client.connect()
      return undefined
    } catch (error) {
      why = (error as Error).message
    } finally {
      void client.end().catch(() => {})
    }
  }
  return why
}

const question = `select case when pg_is_in_recovery() then null
  else pg_logical_emit_message(true, 'tollgate', 'are you there')::text end as answer`

// Whatever the server says, a refusal included, it has answered; and so has a machine that refuses the connection.
async function knock(connectionString: string): Promise<'primary' | 'standby' | 'refused' | 'silent'> {
  const client = new pg.Client({
    connectionString,
    application_name: 'tollgate health',
    connectionTimeoutMillis: knockWithinMs,
    query_timeout: knockWithinMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ answer: string | null }>(question)
    return rows[0]?.answer === null ? 'standby' : 'primary'
  } catch (error) {
    if (/timeout/i.test(String(error))) return 'silent'
    return error instanceof pg.DatabaseError ? 'primary' : 'refused'
  } finally {
    // Not waited for: a server that hangs does not say goodbye.
    void client.end().catch(() => {})
  }
}
