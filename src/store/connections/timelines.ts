import { databaseUrlParts } from '../../core/databaseUrl.ts'
import { HostClient } from './hostClient.ts'

const probeEveryMs = 5000
const probeTimeoutMs = 1000

// A promotion begins a new timeline, so of two servers that both accept writes, the one with the lower timeline is an old
// primary that came back after a failover. It must get no statement: what it stores is lost. Right after a promotion the
// control file still has the old timeline; the name of the current WAL file has the new one.
export const timelineColumn = `case when pg_is_in_recovery() then null
  else ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int end as timeline`

// With several hosts: asks all of them every five seconds which timeline they are on, and knows the highest.
export type Timelines = {
  firstProbe: Promise<unknown>
  accept(timeline: number | null): boolean // false: an old primary
  oldPrimaries(): readonly string[] // their host names, as of the last probe
  stop(): void
}

export const oldPrimaryError = () =>
  Object.assign(new Error('this server is an old primary: another host has a higher timeline'), {
    code: '25006',
  })

const oneHost: Timelines = {
  firstProbe: Promise.resolve(),
  accept: () => true,
  oldPrimaries: () => [],
  stop() {},
}

export function watchTimelines(hosts: readonly string[]): Timelines {
  let highest = 0
  let old: readonly string[] = []

  async function probeAll() {
    const found = await Promise.all(hosts.map(async url => ({ url, timeline: await timelineOf(url) })))
    highest = Math.max(highest, ...found.map(({ timeline }) => timeline ?? 0))
    old = found
      .filter(({ timeline }) => timeline !== undefined && timeline < highest)
      .map(({ url }) => databaseUrlParts(url).hosts)
  }

  if (hosts.length === 1) return oneHost
  const firstProbe = probeAll()
  const timer = setInterval(() => void probeAll().catch(() => {}), probeEveryMs)
  timer.unref()
  return {
    firstProbe,
    accept(timeline) {
      if (timeline === null) return true // a standby, which is refused as such
      highest = Math.max(highest, timeline)
      return timeline >= highest
    },
    oldPrimaries: () => old,
    stop: () => clearInterval(timer),
  }
}

// Undefined for a standby, and for a host that does not answer.
async function timelineOf(connectionString: string): Promise<number | undefined> {
  let client: HostClient | undefined
  try {
    client = new HostClient(connectionString, {
      application_name: 'tollgate timelines',
      connectionTimeoutMillis: probeTimeoutMs,
      query_timeout: probeTimeoutMs,
    })
    client.on('error', () => {})
    await client.connect()
    const { rows } = await client.query<{ timeline: number | null }>(`select ${timelineColumn}`)
    return rows[0]?.timeline ?? undefined
  } catch {
    return undefined
  } finally {
    void client?.end().catch(() => {}) // not awaited: a server that hangs does not close the connection
  }
}
