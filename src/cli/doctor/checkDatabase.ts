import { join } from 'node:path'
import type { Config } from '../../config.ts'
import {
  type DatabaseState,
  incompatibleIn,
  isUnreleased,
  missingIn,
  unknownIn,
} from '../../core/fitDatabase.ts'
import { startEmbedded } from '../../postgres/embedded.ts'
import { isMade } from '../../postgres/dataFolder.ts'
import { type Db, openDb } from '../../store/db.ts'
import { installationKeyIdsInUse } from '../../store/installation/installation.ts'
import { masterKeyIdsInUse } from '../../store/merchants/merchants.ts'
import { migrationNames } from '../../store/migrate/migrationList.ts'
import { readDatabaseState, readServerFacts } from '../../store/serverFacts.ts'
import { exitCodes } from '../exitCodes.ts'
import { failureOf } from '../failure.ts'
import { type Check, failed, fine, warning } from './check.ts'
import { checkDeliveries } from './checkDeliveries.ts'
import { presentMasterKeys } from './checkMasterKey.ts'
import { checkMerchants } from './checkMerchants.ts'
import { checkNodes } from './checkNodes.ts'
import { checkOrigins } from './checkOrigins.ts'
import { checkPause } from './checkPause.ts'
import { checkPayers } from './checkPayers.ts'
import { checkProviders } from './checkProviders.ts'
import { checkServer } from './checkServer.ts'
import { checkTasks } from './checkTasks.ts'
import { checkUser, checkUserOf } from './checkUser.ts'

type IsRight = (...settings: string[]) => boolean // they can be read

export async function checkRecords(config: Config, isRight: IsRight): Promise<Check[]> {
  try {
    if (!config.DATABASE_URL && !isMade(join(config.TOLLGATE_DATA_DIR, 'postgres')))
      return [checkUser(), fine('database', 'no data yet; tollgate start makes it')]
    return await withDatabase(config, async (db, gateway) => [
      (gateway === undefined ? undefined : checkUserOf(gateway)) ?? checkUser(),
      ...(await lookInside(db, config, isRight)),
    ])
  } catch (error) {
    const { exit, message } = failureOf(error)
    if (exit === exitCodes.bug) throw error
    return [checkUser(), failed('database', message)]
  }
}

// By hand and not by openDatabase: a master key at fault has a check of its own.
async function withDatabase<T>(
  config: Config,
  work: (db: Db, gateway: number | undefined) => Promise<T>,
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

async function lookInside(db: Db, config: Config, isRight: IsRight): Promise<Check[]> {
  const keyIsRight = isRight('TOLLGATE_MASTER_KEY')
  await readServerFacts(db) // so that the time to connect does not count as a difference between the clocks
  const asked = Date.now()
  const server = await readServerFacts(db)
  const halfWay = (asked + Date.now()) / 2
  if (!server) return [failed('database', 'it says nothing about itself')]
  const state = await readDatabaseState(db)
  const known = migrationNames()
  const missing = missingIn(state, known)
  const isReadable = !isUnreleased(state, known) && incompatibleIn(state, known).length === 0
  return [
    ...checkServer(server, server.now.getTime() - halfWay, config),
    ...(state.read_only ? [readOnly] : []),
    await checkNodes(db),
    checkMigrations(state, known),
    ...(keyIsRight && isReadable && missing.length < known.length
      ? [await checkSecrets(db, config, missing.length === 0)]
      : []),
    ...(isReadable && missing.length === 0 ? await lookAtWork(db, config, server.now, isRight) : []),
  ]
}

const lookAtWork = async (db: Db, config: Config, now: Date, isRight: IsRight): Promise<Check[]> => [
  await checkTasks(db),
  await checkDeliveries(db, now),
  await checkMerchants(db),
  ...(await checkOrigins(db)),
  ...(isRight('TOLLGATE_MASTER_KEY') ? await checkProviders(db, config, presentMasterKeys(config)) : []),
  ...(await checkPayers(db, config, now)),
  ...(isRight('HOST', 'PORT', 'TOLLGATE_BASE_URL', 'TOLLGATE_MASTER_KEY')
    ? await checkPause(db, config, now)
    : []),
]

const readOnly = failed(
  'database',
  'it is read-only',
  'Let it take writes (default_transaction_read_only = off): payments cannot be stored.',
)

function checkMigrations(state: DatabaseState, known: readonly string[]): Check {
  if (isUnreleased(state, known))
    return failed(
      'migrations',
      'the database was made by an unreleased version of Tollgate, before 0.2.0',
      'Export what you need from it, and start with a new database.',
    )
  const unknown = unknownIn(state, known)
  const newer = `a newer Tollgate has changed the database: ${unknown.map(({ name }) => name).join(', ')}`
  if (incompatibleIn(state, known).length > 0)
    return failed('migrations', newer, 'Start that version, or restore a backup from before.')
  if (unknown.length > 0)
    return warning('migrations', newer, 'This version may run beside that one: update this machine, too.')
  const missing = missingIn(state, known)
  if (missing.length === 0) return fine('migrations', 'the database is up to date')
  return warning(
    'migrations',
    `${missing.length} to apply`,
    'Run tollgate migrate; tollgate start does it too.',
  )
}

// Tables that a missing migration makes are not read.
async function checkSecrets(db: Db, config: Config, isUpToDate: boolean): Promise<Check> {
  const masterKeys = presentMasterKeys(config)
  const inUse = [...(await masterKeyIdsInUse(db)), ...(isUpToDate ? await installationKeyIdsInUse(db) : [])]
  const unknown = [...new Set(inUse)].filter(id => !masterKeys?.byId(id))
  if (unknown.length === 0)
    return fine('secrets', 'our master key opens those of every merchant and of the installation')
  const fact = `sealed with a master key that we lack (${unknown.join(', ')})`
  const todo = 'Set TOLLGATE_MASTER_KEY to it, or put the master.key that holds it into the data folder.'
  return failed('secrets', fact, todo)
}
