import { type Config, readConfig } from '../config.ts'
import { readClock } from '../runtime/databaseClock.ts'
import { checkDatabase, checkMasterKeys, type OpenDatabase, openDatabase } from '../start/database.ts'
import type { Db } from '../store/db.ts'
import { findMerchant, type Merchant } from '../store/merchants/merchants.ts'
import { migrate } from '../store/migrate/migrate.ts'
import { migrationNames } from '../store/migrate/migrationList.ts'
import { CannotDo } from './failure.ts'
import { say } from './terminal.ts'

// `clock` is the database's, as a gateway's is.
export type Opened = OpenDatabase & { config: Config; clock(): Date }

// Runs a command on the database, beside a running gateway, or alone on the same data.
export async function withDatabase<T>(work: (database: Opened) => Promise<T>): Promise<T> {
  const config = readConfig()
  const database = await openDatabase(config, 'command')
  try {
    await checkDatabase(database, migrationNames(), { durable: false })
    await migrate(database.db, { onProgress: say })
    return await work({ ...database, config, clock: await readClock(database.db) })
  } finally {
    await database.close()
  }
}

// For commands that seal or open secrets.
export const withMasterKeys = <T>(work: (database: Opened) => Promise<T>): Promise<T> =>
  withDatabase(async database => {
    await checkMasterKeys(database)
    return work(database)
  })

export async function merchantOf(db: Db, merchant_id: string): Promise<Merchant> {
  const merchant = await findMerchant(db, merchant_id)
  if (!merchant) throw noMerchant(merchant_id)
  return merchant
}

export const noMerchant = (merchant_id: string) =>
  new CannotDo('not_found', `No merchant has the id ${merchant_id}: tollgate merchant list shows them all.`)
