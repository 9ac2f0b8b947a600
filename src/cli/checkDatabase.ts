import { join } from 'node:path'
import type { Config } from '../config.ts'
import { type Db, openDb } from '../store/db.ts'
import { isMade } from '../store/embedded/home.ts'
import { startEmbedded } from '../store/embedded.ts'
import { masterKeyIdsInUse } from '../store/merchants.ts'
import { migrationNames, pendingMigrations } from '../store/migrate.ts'
import { readServerFacts } from '../store/serverFacts.ts'
import { type Check, failed, fine, warning } from './check.ts'
import { checkDeliveries } from './checkDeliveries.ts'
import { presentMasterKeys } from './checkMasterKey.ts'
import { checkMerchants } from './checkMerchants.ts'
import { checkServer } from './checkServer.ts'
import { checkTasks } from './checkTasks.ts'
import { exitCodes } from './exitCodes.ts'
import { failureOf } from './failure.ts'

export async function checkRecords(config: Config): Promise<Check[]> {
  try {
    if (!config.DATABASE_URL && !isMade(join(config.TOLLGATE_DATA_DIR, 'postgres')))
      return [fine('database', 'no data yet; tollgate start makes it')]
    return await withDatabase(config, db => lookInside(db, config))
  } catch (error) {
    const { exit, message } = failureOf(error)
    if (exit === exitCodes.bug) throw error
    return [failed('database', message)]
  }
}

// By hand and not by openRecords: a master key at fault has a check of its own.
async function withDatabase<T>(config: Config, work: (db: Db) => Promise<T>): Promise<T> {
  const embedded = config.DATABASE_URL ? undefined : await startEmbedded(config.TOLLGATE_DATA_DIR, 'command')
  const db = openDb(embedded?.url ?? config.DATABASE_URL ?? '', 1)
  try {
    return await work(db)
  } finally {
    await db.end()
    await embedded?.stop()
  }
}

async function lookInside(db: Db, config: Config): Promise<Check[]> {
  await readServerFacts(db) // so that the time to connect does not count as a difference between the clocks
  const asked = Date.now()
  const server = await readServerFacts(db)
  const halfWay = (asked + Date.now()) / 2
  if (!server) return [failed('database', 'it says nothing about itself')]
  const pending = await pendingMigrations(db)
  return [
    ...checkServer(server, server.now.getTime() - halfWay, config),
    checkMigrations(pending),
    ...(pending.length < migrationNames().length ? [await checkSecrets(db, config)] : []),
    ...(pending.length === 0
      ? [await checkTasks(db), await checkDeliveries(db, new Date()), await checkMerchants(db)]
      : []),
  ]
}

const checkMigrations = ({ length }: string[]): Check =>
  length === 0
    ? fine('migrations', 'the database is up to date')
    : warning('migrations', `${length} to apply`, 'Run tollgate migrate; tollgate start does it too.')

async function checkSecrets(db: Db, config: Config): Promise<Check> {
  const masterKeys = presentMasterKeys(config)
  const unknown = (await masterKeyIdsInUse(db)).filter(id => !masterKeys?.byId(id))
  if (unknown.length === 0) return fine('secrets', 'our master key opens those of every merchant')
  const fact = `sealed with a master key that we lack (${unknown.join(', ')})`
  const todo = 'Set TOLLGATE_MASTER_KEY to it, or put the master.key that holds it into the data folder.'
  return failed('secrets', fact, todo)
}
