import { join } from 'node:path'
import { readJudgement } from '../../actions/installation/judgeDatabase.ts'
import { listNodes } from '../../actions/installation/nodes.ts'
import {
  describeUnreadable,
  unreadableSecrets,
  unreadableTodo,
} from '../../actions/installation/unreadableSecrets.ts'
import type { Config } from '../../config.ts'
import { incompatibleIn, isTooOld, isUnreleased, missingIn } from '../../core/fitDatabase.ts'
import { whyCopy } from '../../core/installation/installationTexts.ts'
import { operatorKeys } from '../../core/operator/operatorKeys.ts'
import { isMade } from '../../postgres/dataFolder.ts'
import { startEmbedded } from '../../postgres/embedded.ts'
import { addressOfFolder, addressOfUrl } from '../../start/machine.ts'
import { detectPooler, type Pooler } from '../../store/connections/pooler.ts'
import { type Db, openDb } from '../../store/db.ts'
import {
  findInstallation,
  installationKeyIdsInUse,
  openInstallation,
} from '../../store/installation/installation.ts'
import { findNeededKey } from '../../store/installation/keyUse.ts'
import { masterKeyIdsInUse } from '../../store/merchants/merchants.ts'
import { migrationNames } from '../../store/migrate/migrationList.ts'
import { readDatabaseState, readServerFacts, type ServerFacts } from '../../store/serverFacts.ts'
import { readRoleRights } from '../../store/soundness.ts'
import { exitCodes, failureOf } from '../failure.ts'
import { allChecks, type Check, checkFailed, checkOk, checkWarning } from './check.ts'
import { checkDashboard, checkPayers } from './checkAddresses.ts'
import {
  checkConnections,
  checkDirect,
  checkPooler,
  checkPoolerLimits,
  checkTimeouts,
  checkTransports,
  checkWakeUps,
  runningNodes,
  transportsOf,
} from './checkConnections.ts'
import { checkIpnUrls } from './checkIpnUrls.ts'
import { checkUser, checkUserOf, presentMasterKeys } from './checkMachine.ts'
import { checkMerchants } from './checkMerchants.ts'
import { checkSystemNames } from './checkOutgoing.ts'
import { checkProviders } from './checkProviders.ts'
import { checkReach } from './checkReach.ts'
import { checkAppendOnly, checkMigrations, checkRights, checkSchema, isBroken } from './checkSchema.ts'
import { checkBackup, checkDeliveries, checkPause, checkTasks, checkWorkers } from './checkWork.ts'

const maxClockDifferenceMs = 2000

type AreValid = (...settings: string[]) => boolean

export async function checkDatabaseAndData(config: Config, areValid: AreValid): Promise<Check[]> {
  try {
    if (!config.DATABASE_URL && !isMade(join(config.TOLLGATE_DATA_DIR, 'postgres')))
      return [checkUser(), checkOk('database', 'no data yet; tollgate start creates it')]
    return await connect(config, async (db, gatewayPid) => {
      const user = (gatewayPid === undefined ? undefined : checkUserOf(gatewayPid)) ?? checkUser()
      // A database that cannot be reached is reported by the statements below.
      const found = config.DATABASE_URL ? await detectPooler(db.url).catch(() => undefined) : undefined
      const pooler = found && checkPooler(found)
      if (pooler && pooler.state === 'failed') return [user, pooler]
      const connected = await checkConnected(db, config, { areValid, pooler: found })
      const transports = config.DATABASE_URL ? await transportsOf(db) : []
      return allChecks(
        user,
        pooler || undefined,
        await checkDirect(db),
        checkTransports(transports),
        connected,
      )
    })
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
  const db = embedded
    ? openDb(embedded.url, 1)
    : openDb(config.DATABASE_URL ?? '', 1, 'tollgate', config.TOLLGATE_DIRECT_DATABASE_URL)
  try {
    return await work(db, await embedded?.gateway())
  } finally {
    await db.end()
    await embedded?.stop()
  }
}

type Connected = { areValid: AreValid; pooler: Pooler | undefined }

async function checkConnected(db: Db, config: Config, { areValid, pooler }: Connected): Promise<Check[]> {
  await readServerFacts(db) // connects, so that connecting does not count as a difference between the clocks
  const before = Date.now()
  const server = await readServerFacts(db)
  const halfway = (before + Date.now()) / 2
  if (!server) return [checkFailed('database', 'it does not report its version and settings')]
  const aheadMs = server.now.getTime() - halfway
  const rights = await readRoleRights(db)
  const privileges = checkRights(rights)
  if (privileges?.state === 'failed')
    return allChecks(checkServer(server, aheadMs, config, { pooler, nodes: 0 }), privileges)
  const state = await readDatabaseState(db)
  const known = migrationNames()
  const missing = missingIn(state, known)
  const isReadable = !isUnreleased(state, known) && incompatibleIn(state, known).length === 0
  const isComplete = isReadable && missing.length === 0
  const schema = isComplete ? await checkSchema(db) : []
  const isSound = isComplete && !isBroken(schema)
  const nodes = isSound ? runningNodes(await listNodes(db)) : 0
  return allChecks(
    checkServer(server, aheadMs, config, { pooler, nodes }),
    pooler && pooler !== 'none' && (await checkPoolerLimits(db, config, nodes)),
    state.read_only && readOnly,
    await checkTimeouts(db),
    await checkWakeUps(db),
    checkMigrations(state, known),
    schema,
    privileges,
    areValid('TOLLGATE_MASTER_KEY') &&
      isReadable &&
      !isBroken(schema) &&
      missing.length < known.length &&
      (await checkSecrets(db, config, missing.length === 0)),
    isSound && config.DATABASE_URL !== undefined && (await checkAppendOnly(db, rights)),
    isSound && (await checkData(db, config, { now: server.now, areValid, nodes })),
  )
}

// No result for the original.
async function checkOriginal(db: Db, config: Config, now: Date): Promise<Check | undefined> {
  const embedded = config.DATABASE_URL === undefined
  const address = embedded ? addressOfFolder(config.TOLLGATE_DATA_DIR) : addressOfUrl(db.url)
  const { state } = await readJudgement({ db, address, embedded, clock: () => now })
  if (state.is === 'original') return undefined
  if (state.is === 'moved')
    return checkFailed(
      'copy',
      `the payments were moved to ${state.movedTo}`,
      'Set DATABASE_URL to that database.',
    )
  const todo =
    'A gateway on it sends nothing and takes no live payment. If it is the real one now, and no other is in use: tollgate adopt.'
  return checkFailed('copy', `the database is a copy: ${whyCopy(state.why)}`, todo)
}

type Data = { now: Date; areValid: AreValid; nodes: number }

const checkData = async (db: Db, config: Config, { now, areValid, nodes }: Data): Promise<Check[]> =>
  allChecks(
    await checkOriginal(db, config, now),
    await checkWorkers(db),
    await checkTasks(db),
    await checkDeliveries(db, now),
    await checkBackup(db, now),
    await checkMerchants(db),
    areValid('TOLLGATE_EGRESS_PORTS', 'TOLLGATE_EGRESS_LOOPBACK') && (await checkIpnUrls(db, config, now)),
    areValid('TOLLGATE_MASTER_KEY') && (await checkProviders(db, config, presentMasterKeys(config))),
    await checkSystemNames(db, config),
    await checkPayers(db, config, now),
    areValid('HOST', 'PORT', 'TOLLGATE_BASE_URL', 'TOLLGATE_DASHBOARD_PORT', 'TOLLGATE_DASHBOARD_URL') &&
      (await checkDashboard(db, config)),
    areValid('HOST', 'PORT', 'TOLLGATE_BASE_URL', 'TOLLGATE_MASTER_KEY') &&
      (await checkPause(db, config, now)),
    areValid(
      'TOLLGATE_BASE_URL',
      'TOLLGATE_DASHBOARD_URL',
      'TOLLGATE_MASTER_KEY',
      'TOLLGATE_SUPPORT_TOKEN',
    ) && (await checkAddresses(db, config, nodes, now)),
  )

// With the keys of this installation. A missing master key is reported with the secrets.
async function checkAddresses(db: Db, config: Config, nodes: number, now: Date): Promise<Check[]> {
  const masterKeys = presentMasterKeys(config)
  const stored = await findInstallation(db)
  if (!stored || !masterKeys?.byId(stored.master_key_id)) return []
  const { supportToken } = openInstallation(masterKeys, stored)
  return checkReach({ config, keys: operatorKeys(supportToken, config.TOLLGATE_SUPPORT_TOKEN), nodes, now })
}

// `aheadMs`: how far the clock of the database is ahead of this machine's.
export const checkServer = (
  server: ServerFacts,
  aheadMs: number,
  config: Config,
  reach: { pooler?: Pooler; nodes: number } = { nodes: 0 },
): Check[] => [
  checkVersion(server),
  checkDurability(server),
  checkConnections(server, config, reach),
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

// Skips tables that a missing migration creates.
async function checkSecrets(db: Db, config: Config, isUpToDate: boolean): Promise<Check> {
  const masterKeys = presentMasterKeys(config)
  const inUse = [...(await masterKeyIdsInUse(db)), ...(isUpToDate ? await installationKeyIdsInUse(db) : [])]
  const unknown = [...new Set(inUse)].filter(id => !masterKeys?.byId(id))
  const needed = isUpToDate && masterKeys ? await findNeededKey(db, masterKeys) : unknown[0]
  if (needed)
    return checkFailed(
      'secrets',
      `encrypted with a master key that is missing here (${unknown.join(', ')})`,
      'Set TOLLGATE_MASTER_KEY to it, or put the master.key file that has it into the data folder.',
    )
  const unreadable = masterKeys ? await unreadableSecrets(db, masterKeys) : []
  if (unreadable.length > 0)
    return checkFailed('secrets', `those of ${unreadable.map(describeUnreadable).join('; ')}`, unreadableTodo)
  return checkOk('secrets', 'the master key opens those of all merchants and of the installation')
}
