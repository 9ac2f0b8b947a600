import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import {
  type DatabaseState,
  incompatibleIn,
  isTooOld,
  isUnreleased,
  missingIn,
  unknownIn,
} from '../../core/fitDatabase.ts'
import { isMade } from '../../postgres/dataFolder.ts'
import { startEmbedded } from '../../postgres/embedded.ts'
import { type Db, openDb } from '../../store/db.ts'
import { installationKeyIdsInUse } from '../../store/installation/installation.ts'
import { masterKeyIdsInUse } from '../../store/merchants/merchants.ts'
import { migrationNames } from '../../store/migrate/migrationList.ts'
import { openListeningSession } from '../../store/nodeSession.ts'
import { readDatabaseState, readServerFacts, type ServerFacts } from '../../store/serverFacts.ts'
import { exitCodes, failureOf } from '../failure.ts'
import { allChecks, type Check, checkFailed, checkOk, checkWarning } from './check.ts'
import { checkDashboard, checkPayers } from './checkAddresses.ts'
import { checkUser, checkUserOf, presentMasterKeys } from './checkMachine.ts'
import { checkIpnUrls } from './checkIpnUrls.ts'
import { checkMerchants } from './checkMerchants.ts'
import { checkProviders } from './checkProviders.ts'
import { checkDeliveries, checkPause, checkTasks } from './checkWork.ts'

const commandConnections = 2 // that a command opens beside the gateway
const maxClockDifferenceMs = 2000

type AreValid = (...settings: string[]) => boolean

export async function checkDatabaseAndData(config: Config, areValid: AreValid): Promise<Check[]> {
  try {
    if (!config.DATABASE_URL && !isMade(join(config.TOLLGATE_DATA_DIR, 'postgres')))
      return [checkUser(), checkOk('database', 'no data yet; tollgate start creates it')]
    return await connect(config, async (db, gatewayPid) => [
      (gatewayPid === undefined ? undefined : checkUserOf(gatewayPid)) ?? checkUser(),
      ...(await checkConnected(db, config, areValid)),
    ])
  } catch (error) {
    const { exit, message } = failureOf(error)
    if (exit === exitCodes.bug) throw error
    return [checkUser(), checkFailed('database', message)]
  }
}

// Does not use openDatabase, which fails without a master key: the key has its own check.
async function connect<T>(
  config: Config,
  work: (db: Db, gatewayPid: number | undefined) => Promise<T>,
): Promise<T> {
  const embedded = config.DATABASE_URL ? undefined : await startEmbedded(config.TOLLGATE_DATA_DIR, 'command')
  const db = openDb(embedded?.url ?? config.DATABASE_URL ?? '', 1)
  try {
    return await work(db, await embedded?.gateway())
  } finally {
    await db.end()
    await embedded?.stop()
  }
}

async function checkConnected(db: Db, config: Config, areValid: AreValid): Promise<Check[]> {
  await readServerFacts(db) // connects, so that connecting does not count as a difference between the clocks
  const before = Date.now()
  const server = await readServerFacts(db)
  const halfway = (before + Date.now()) / 2
  if (!server) return [checkFailed('database', 'it does not report its version and settings')]
  const state = await readDatabaseState(db)
  const known = migrationNames()
  const missing = missingIn(state, known)
  const isReadable = !isUnreleased(state, known) && incompatibleIn(state, known).length === 0
  return allChecks(
    checkServer(server, server.now.getTime() - halfway, config),
    state.read_only && readOnly,
    await checkNodes(db),
    checkMigrations(state, known),
    areValid('TOLLGATE_MASTER_KEY') &&
      isReadable &&
      missing.length < known.length &&
      (await checkSecrets(db, config, missing.length === 0)),
    isReadable && missing.length === 0 && (await checkData(db, config, server.now, areValid)),
  )
}

const checkData = async (db: Db, config: Config, now: Date, areValid: AreValid): Promise<Check[]> =>
  allChecks(
    await checkTasks(db),
    await checkDeliveries(db, now),
    await checkMerchants(db),
    areValid('TOLLGATE_EGRESS_PORTS', 'TOLLGATE_EGRESS_LOOPBACK') && (await checkIpnUrls(db, config, now)),
    areValid('TOLLGATE_MASTER_KEY') && (await checkProviders(db, config, presentMasterKeys(config))),
    await checkPayers(db, config, now),
    areValid('HOST', 'PORT', 'TOLLGATE_BASE_URL', 'TOLLGATE_DASHBOARD_PORT', 'TOLLGATE_DASHBOARD_URL') &&
      (await checkDashboard(db, config)),
    areValid('HOST', 'PORT', 'TOLLGATE_BASE_URL', 'TOLLGATE_MASTER_KEY') &&
      (await checkPause(db, config, now)),
  )

// `aheadMs`: how far the clock of the database is ahead of this machine's.
export const checkServer = (server: ServerFacts, aheadMs: number, config: Config): Check[] => [
  checkVersion(server),
  checkDurability(server),
  checkConnections(server, config),
  checkClocks(aheadMs),
]

const checkVersion = (server: ServerFacts): Check =>
  isTooOld(server)
    ? checkFailed('database', `PostgreSQL ${server.version}`, 'Tollgate needs PostgreSQL 15 or later.')
    : checkOk('database', `PostgreSQL ${server.version}, a primary`)

function checkDurability(server: ServerFacts): Check {
  const names = ['fsync', 'synchronous_commit', 'full_page_writes'] as const
  const off = names.filter(name => server[name] === 'off').map(name => `${name} is off`)
  if (off.length === 0) return checkOk('durability', 'commits are on disk before they are confirmed')
  const todo =
    'Set it to on in the database: a power failure could lose payments that merchants believe stored.'
  return checkFailed('durability', off.join(', '), todo)
}

function checkConnections({ connections, in_use }: ServerFacts, { TOLLGATE_POOL_SIZE: pool }: Config): Check {
  const fact = `${in_use} of ${connections} in use; a gateway uses up to ${pool}`
  if (connections >= pool + commandConnections) return checkOk('connections', fact)
  return checkFailed(
    'connections',
    fact,
    'Raise max_connections in the database, or lower TOLLGATE_POOL_SIZE.',
  )
}

function checkClocks(aheadMs: number): Check {
  if (Math.abs(aheadMs) <= maxClockDifferenceMs)
    return checkOk('clocks', 'this machine and the database agree')
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(1)
  return checkWarning(
    'clocks',
    `the database is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine`,
    'Payments use the clock of the database; certificates and log lines use the clock of this machine: synchronize ' +
      'both with a time server (timedatectl set-ntp true).',
  )
}

const readOnly = checkFailed(
  'database',
  'it is read-only',
  'Allow writes (default_transaction_read_only = off): payments cannot be stored.',
)

// Whether nodes receive each other's LISTEN/NOTIFY wake-ups.
async function checkNodes(db: Db): Promise<Check> {
  try {
    const listener = await openListeningSession(db, randomInt(1, 2 ** 31), () => {})
    await listener.close()
    return checkOk('nodes', 'LISTEN/NOTIFY works')
  } catch (error) {
    return checkWarning(
      'nodes',
      `LISTEN/NOTIFY does not work: ${(error as Error).message}`,
      'Nodes fall back to polling, which is slower: connect DATABASE_URL to PostgreSQL itself, or to a session-mode pooler.',
    )
  }
}

function checkMigrations(state: DatabaseState, known: readonly string[]): Check {
  if (isUnreleased(state, known))
    return checkFailed(
      'migrations',
      'the database was made by an unreleased version of Tollgate, before 0.2.0',
      'Export what you need from it, and start with a new database.',
    )
  const unknown = unknownIn(state, known)
  const newer = `a newer Tollgate has changed the database: ${unknown.map(({ name }) => name).join(', ')}`
  if (incompatibleIn(state, known).length > 0)
    return checkFailed('migrations', newer, 'Start that version, or restore an older backup.')
  if (unknown.length > 0)
    return checkWarning('migrations', newer, 'This version can run beside that one: update this machine too.')
  const missing = missingIn(state, known)
  if (missing.length === 0) return checkOk('migrations', 'the database is up to date')
  const todo = 'Run tollgate migrate; tollgate start does it too.'
  return checkWarning('migrations', `${missing.length} to apply`, todo)
}

// Skips tables that a missing migration creates.
async function checkSecrets(db: Db, config: Config, isUpToDate: boolean): Promise<Check> {
  const masterKeys = presentMasterKeys(config)
  const inUse = [...(await masterKeyIdsInUse(db)), ...(isUpToDate ? await installationKeyIdsInUse(db) : [])]
  const unknown = [...new Set(inUse)].filter(id => !masterKeys?.byId(id))
  if (unknown.length === 0)
    return checkOk('secrets', 'the master key opens those of all merchants and of the installation')
  return checkFailed(
    'secrets',
    `encrypted with a master key that is missing here (${unknown.join(', ')})`,
    'Set TOLLGATE_MASTER_KEY to it, or put the master.key file that has it into the data folder.',
  )
}
