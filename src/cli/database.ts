import { type Config, readConfig } from '../config.ts'
import type { Actor } from '../core/access/audit.ts'
import { readClock } from '../runtime/databaseClock.ts'
import { checkDatabase, checkMasterKeys, type OpenDatabase, openDatabase } from '../start/database.ts'
import type { Db } from '../store/db.ts'
import { findMerchant, type Merchant } from '../store/merchants/merchants.ts'
import { migrate, type OnProgress } from '../store/migrate/migrate.ts'
import { migrationNames, pendingMigrations } from '../store/migrate/migrationList.ts'
import { commandActor } from './commandActor.ts'
import { notFound, refused } from './failure.ts'
import { printProgress } from './terminal.ts'

// What a command works with. `clock` reads the time of the database, as in a gateway. `actor` is for the audit log.
export type CommandContext = OpenDatabase & { config: Config; clock(): Date; actor: Actor }

// Works beside a running gateway, or without one on the same data. A new database gets its schema. Any other is migrated by
// `start` and `migrate` only: a command of a newer release must not change the schema below running nodes.
export const withDatabase = <T>(work: (context: CommandContext) => Promise<T>): Promise<T> =>
  withOpenDatabase(async context => {
    const pending = await pendingMigrations(context.db)
    if (pending.length === migrationNames().length) await migrate(context.db, { onProgress: printProgress })
    else if (pending.length > 0) throw notMigrated(pending.length)
    return work(context)
  })

// `applied` has the migrations that were missing.
export const withMigratedDatabase = <T>(
  onProgress: OnProgress,
  work: (applied: string[]) => Promise<T>,
): Promise<T> =>
  withOpenDatabase(async ({ db }) => work(await migrate(db, { mayMoveRows: true, onProgress })))

// For `restore`, which makes the schema of the backup.
export const withUnmigratedDatabase = <T>(work: (context: CommandContext) => Promise<T>): Promise<T> =>
  withOpenDatabase(work)

async function withOpenDatabase<T>(work: (context: CommandContext) => Promise<T>): Promise<T> {
  const config = readConfig()
  const database = await openDatabase(config, 'command')
  try {
    await checkDatabase(database, migrationNames(), { durable: false })
    const clock = await readClock(database.db)
    return await work({ ...database, config, clock, actor: commandActor() })
  } finally {
    await database.close()
  }
}

const notMigrated = (pending: number) =>
  refused(
    `The database has the schema of an earlier release: ${pending} ${pending === 1 ? 'migration is' : 'migrations are'} ` +
      'missing. Use the commands of the release that runs, or upgrade first: start a node of this release, or run tollgate migrate.',
  )

// For commands that seal or open secrets.
export const withMasterKeys = <T>(work: (context: CommandContext) => Promise<T>): Promise<T> =>
  withDatabase(async context => {
    await checkMasterKeys(context)
    return work(context)
  })

export async function requireMerchant(db: Db, merchant_id: string): Promise<Merchant> {
  const merchant = await findMerchant(db, merchant_id)
  if (!merchant) throw merchantNotFound(merchant_id)
  return merchant
}

export const merchantNotFound = (merchant_id: string) =>
  notFound(`No merchant has the id ${merchant_id}: tollgate merchant list shows all.`)
