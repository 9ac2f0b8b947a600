import { randomInt } from 'node:crypto'
import type { JudgedNode } from '../../actions/installation/nodes.ts'
import type { Config } from '../../config.ts'
import { whyNoConnection } from '../../store/connections/hosts.ts'
import { type Pooler, poolerWithoutStatements, readPoolerLimits } from '../../store/connections/pooler.ts'
import { readTransports, type Transport } from '../../store/connections/transport.ts'
import type { Db } from '../../store/db.ts'
import { openListeningSession } from '../../store/nodeSession.ts'
import type { ServerFacts } from '../../store/serverFacts.ts'
import { whyNotSessionUrl } from '../../store/sessionUrl.ts'
import { lostTimeouts } from '../../store/soundness.ts'
import { type Check, checkFailed, checkOk, checkWarning, firstFew } from './check.ts'

const commandConnections = 2 // that a command opens beside the gateway
const ownConnections = 1 // of a node, beside its pool: it listens on it and holds its lock

export function checkPooler(pooler: Pooler): Check {
  if (pooler === 'unprepared')
    return checkFailed('pooler', poolerWithoutStatements.fact, poolerWithoutStatements.todo)
  const facts = {
    none: 'none: this is a connection to PostgreSQL itself',
    session: 'one that gives each connection a session',
    transaction:
      'one that gives each transaction a session; it prepares statements, and each transaction sets its timeouts',
  }
  return checkOk('pooler', facts[pooler])
}

export async function transportsOf({ url, sessionUrl }: Db): Promise<Transport[]> {
  const read = await readTransports(url)
  return sessionUrl === url ? read : [...read, ...(await readTransports(sessionUrl))]
}

// A database on this machine needs no TLS.
export function checkTransports(transports: readonly Transport[]): Check | undefined {
  if (transports.length === 0) return undefined
  const plain = transports.filter(({ isRemote, encryption }) => isRemote && encryption === 'none')
  if (plain.length > 0)
    return checkWarning(
      'database TLS',
      `${firstFew(plain.map(({ host }) => host))}: names, phone numbers and the password go there in plain text`,
      'Set sslmode=verify-full in DATABASE_URL, and ssl = on in the server (docs/database.md).',
    )
  const behind = transports.filter(({ isPlainBehind }) => isPlainBehind)
  if (behind.length > 0)
    return checkWarning(
      'database TLS',
      `the pooler ${firstFew(behind.map(({ host }) => host))} speaks to the server in plain text`,
      'Set server_tls_sslmode = verify-full in the pooler (docs/database.md).',
    )
  const unverified = transports.filter(({ isRemote, encryption }) => isRemote && encryption === 'unverified')
  if (unverified.length > 0)
    return checkOk(
      'database TLS',
      `encrypted; ${firstFew(unverified.map(({ host }) => host))} is not verified (sslmode=verify-full does that)`,
    )
  const isRemote = transports.some(one => one.isRemote)
  return checkOk(
    'database TLS',
    isRemote ? 'encrypted, and the server is verified' : 'not needed: the database is on this machine',
  )
}

export async function checkDirect(db: Db): Promise<Check | undefined> {
  if (db.sessionUrl === db.url) return undefined
  const fault = await whyNotSessionUrl(db)
  if (fault) return checkFailed('direct', fault.fact, fault.todo)
  const why = await whyNoConnection(db.sessionUrl)
  return why === undefined
    ? checkOk('direct', 'TOLLGATE_DIRECT_DATABASE_URL leads to sessions of the same database')
    : checkFailed('direct', `TOLLGATE_DIRECT_DATABASE_URL: ${why}`, 'Correct it, or start the server.')
}

type Reach = { pooler?: Pooler; nodes: number }

// A rolling restart begins with a new gateway beside those that run, and each process of a gateway is a node. A pooler in front
// of the database limits the pools; then only the connections beside it count here.
export function checkConnections(server: ServerFacts, config: Config, { pooler, nodes }: Reach): Check {
  const { TOLLGATE_POOL_SIZE: pool, TOLLGATE_PROCESSES: processes } = config
  const isPooled = pooler === 'session' || pooler === 'transaction'
  const limits: [number, string, string][] = [
    [server.connections, 'the database accepts', 'max_connections'],
    [server.role_connections, 'the role may open', 'the connection limit of the role (alter role)'],
    [
      server.database_connections,
      'this database accepts',
      'the connection limit of the database (alter database)',
    ],
  ]
  const [least, who, setting] = limits.filter(([count]) => count >= 0).toSorted(([a], [b]) => a - b)[0] as [
    number,
    string,
    string,
  ]
  const ofNode = (isPooled ? 0 : pool) + ownConnections
  const ofGateway = processes * ofNode
  const running = Math.max(processes, nodes)
  const needed = running * ofNode + ofGateway + commandConnections
  const fact = `${who} ${least}, of which ${server.in_use} are in use; a gateway uses up to ${ofGateway}`
  if (least < ofGateway - processes * ownConnections + commandConnections)
    return checkFailed('connections', fact, `Raise ${setting}, or lower TOLLGATE_POOL_SIZE.`)
  if (least >= needed) return checkOk('connections', fact)
  const own = running === 1 ? 'one node' : `${running} nodes`
  return checkWarning(
    'connections',
    `${who} ${least}; ${own}, ${oneMore(config)} during a rolling restart, and commands use up to ${needed}`,
    `Raise ${setting} to ${needed} or more, or lower TOLLGATE_POOL_SIZE (it is ${pool}), or use a pooler.`,
  )
}

// No result if the pooler does not show its limits to this user.
export async function checkPoolerLimits(db: Db, config: Config, nodes: number): Promise<Check | undefined> {
  const limits = await readPoolerLimits(db.url)
  const most = Number(limits?.get('max_client_conn') ?? NaN)
  if (Number.isNaN(most)) return undefined
  const { TOLLGATE_POOL_SIZE: pool, TOLLGATE_PROCESSES: processes } = config
  const needed = (Math.max(processes, nodes) + processes) * (pool + ownConnections) + commandConnections
  const fact = `it accepts ${most} connections; the nodes and ${oneMore(config)} during a rolling restart use up to ${needed}`
  if (most >= needed) return checkOk('pooler', fact)
  return checkWarning(
    'pooler',
    fact,
    `Raise max_client_conn in the pooler to ${needed} or more, or lower TOLLGATE_POOL_SIZE.`,
  )
}

const oneMore = ({ TOLLGATE_PROCESSES: processes }: Config) =>
  processes === 1 ? 'one more' : `${processes} more`

export const runningNodes = (nodes: readonly JudgedNode[]) =>
  nodes.filter(({ state }) => state !== 'gone').length

export async function checkTimeouts(db: Db): Promise<Check> {
  const lost = await lostTimeouts(db)
  if (lost.length === 0) return checkOk('timeouts', 'a statement, a lock and an idle transaction end in time')
  return checkFailed(
    'timeouts',
    `lost on the way to the database: ${lost.map(({ name, ms }) => `${name} is ${ms === 0 ? 'off' : `${ms} ms`}`).join(', ')}`,
    'Something in between resets the session: use PgBouncer 1.21 or later, or set DATABASE_URL to PostgreSQL itself (docs/database.md).',
  )
}

// Whether nodes receive each other's LISTEN/NOTIFY wake-ups.
export async function checkWakeUps(db: Db): Promise<Check> {
  try {
    const listener = await openListeningSession(db, randomInt(1, 2 ** 31), () => {})
    await listener.close()
    return checkOk('nodes', 'LISTEN/NOTIFY works')
  } catch (error) {
    return checkWarning(
      'nodes',
      `LISTEN/NOTIFY does not work: ${(error as Error).message}`,
      'Nodes fall back to polling, which is slower: set TOLLGATE_DIRECT_DATABASE_URL to PostgreSQL itself.',
    )
  }
}
