import pg from 'pg'
import { HostClient } from './hostClient.ts'
import { hostsOf } from './hosts.ts'
import { oldPrimaryError, type Timelines, timelineColumn } from './timelines.ts'

const probeTimeoutMs = 3000

type Options = ConstructorParameters<typeof HostClient>[1]
export type PrimarySession = { client: HostClient; host: string; isOpen(): boolean }

// A connection to the primary, outside of the pool. Asks all hosts: of those that accept writes, only the one with the
// highest timeline is the primary. `accepts`: a primary that the pool refuses is refused here too, also while the host
// with the higher timeline does not answer.
export async function connectToPrimary(
  url: string,
  options: Options,
  accepts: Timelines['accept'] = () => true,
): Promise<PrimarySession> {
  const tried = await Promise.allSettled(hostsOf(url).map(host => connect(host, options, accepts)))
  const found = tried.flatMap(one => (one.status === 'fulfilled' ? one.value : []))
  const [best, ...others] = found.toSorted((a, b) => b.timeline - a.timeline)
  for (const { client } of others) void client.end().catch(() => {})
  if (best) return best
  const failures = tried.flatMap(one => (one.status === 'rejected' ? (one.reason as unknown) : []))
  throw failures.find(error => error instanceof pg.DatabaseError) ?? failures.at(-1)
}

async function connect(host: string, options: Options, accepts: Timelines['accept']) {
  const client = new HostClient(host, options)
  let isOpen = true
  client.on('error', () => {}) // the statement that was running rejects with it, and 'end' follows
  client.on('end', () => (isOpen = false))
  try {
    await client.connect()
    const asked = { text: `select ${timelineColumn}`, query_timeout: probeTimeoutMs }
    const { rows } = await client.query<{ timeline: number | null }>(asked)
    const timeline = rows[0]?.timeline ?? null
    if (timeline === null) throw Object.assign(new Error('this server is a standby'), { code: '25006' })
    if (!accepts(timeline)) throw oldPrimaryError()
    return { client, host, timeline, isOpen: () => isOpen }
  } catch (error) {
    void client.end().catch(() => {}) // not awaited: a server that hangs does not close the connection
    throw error
  }
}
