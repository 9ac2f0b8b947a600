import { isIP } from 'node:net'
import { hostIn, isLocalDatabase, readDatabaseTls } from '../../core/databaseTls.ts'
import { isLoopbackName } from '../../core/networkSettings.ts'
import { HostClient } from './hostClient.ts'
import { hostsOf } from './hosts.ts'
import { announcedProcessId } from './pooler.ts'

const timeoutMs = 3000

// How what this program says reaches one host.
export type Transport = {
  host: string
  isRemote: boolean
  encryption: 'none' | 'unverified' | 'verified'
  isPlainBehind: boolean // a pooler speaks to a server on another machine in plain text
}

// Of the hosts that accept a connection.
export async function readTransports(url: string): Promise<Transport[]> {
  const read = await Promise.all(hostsOf(url).map(host => transportOf(host).catch(() => undefined)))
  return read.filter(one => one !== undefined)
}

type ServerSide = { pid: number; ssl: boolean; client: string | null; server: string | null }

async function transportOf(url: string): Promise<Transport> {
  const client = new HostClient(url, {
    application_name: 'tollgate start',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<ServerSide>(
      `select pg_backend_pid() as pid, ssl, host(inet_client_addr()) as client, host(inet_server_addr()) as server
        from pg_stat_ssl where pid = pg_backend_pid()`,
    )
    return {
      host: hostIn(url),
      isRemote: !isLocalDatabase(url),
      encryption: encryptionOf(client, url),
      isPlainBehind: rows[0]?.pid !== announcedProcessId(client) && isPlainAndRemote(rows[0]),
    }
  } finally {
    void client.end().catch(() => {})
  }
}

function encryptionOf(client: HostClient, url: string): Transport['encryption'] {
  if (!client.isEncrypted()) return 'none'
  return readDatabaseTls(url).tls.verify === 'nothing' ? 'unverified' : 'verified'
}

// As the server sees its client, which is the pooler. A Unix socket has no addresses.
function isPlainAndRemote(side: ServerSide | undefined): boolean {
  if (!side || side.ssl || side.client === null || isIP(side.client) === 0) return false
  return side.client !== side.server && !isLoopbackName(side.client)
}
