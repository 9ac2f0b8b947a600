import { type Config, readConfig } from '../config.ts'
import type { Actor } from '../core/access/audit.ts'
import { readClock } from '../runtime/databaseClock.ts'
import { checkDatabase, checkMasterKeys, type OpenDatabase, openDatabase } from '../start/database.ts'
import type { Db } from '../store/db.ts'
import { findMerchant, type Merchant } from '../store/merchants/merchants.ts'
import { migrate, type OnProgress } from '../store/migrate/migrate.ts'
import { migrationNames } from '../store/migrate/migrationList.ts'
import { commandActor } from './commandActor.ts'
import { notFound } from './failure.ts'
import { printProgress } from './terminal.ts'

// What a command works with. `clock` reads the time of the database, as in a gateway. `actor` is for the audit log.
export type CommandContext = OpenDatabase & { config: Config; clock(): Date; actor: Actor }

// Works beside a running gateway, or without one on the same data. `applied` has the migrations that were missing.
export async function withDatabase<T>(
  work: (context: CommandContext, applied: string[]) => Promise<T>,
  onProgress: OnProgress = printProgress,
): Promise<T> {
  const config = readConfig()
  const database = await openDatabase(config, 'command')
  try {
    await checkDatabase(database, migrationNames(), { durable: false })
    const applied = await migrate(database.db, { onProgress })
    return await work(
      { ...database, config, clock: await readClock(database.db), actor: commandActor() },
      applied,
    )
  } finally {
    await database.close()
  }
}

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
