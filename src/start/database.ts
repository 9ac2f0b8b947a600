import type { Config } from '../config.ts'
import { whyNotBegin, whyNotDurable } from '../core/fitDatabase.ts'
import { startEmbedded } from '../postgres/embedded.ts'
import { type Db, openDb } from '../store/db.ts'
import { installationKeyIdsInUse } from '../store/installation/secrets.ts'
import { masterKeyIdsInUse } from '../store/merchants/merchants.ts'
import type { MasterKeys } from '../store/merchants/vault.ts'
import { migrationNames } from '../store/migrate/ledger.ts'
import { readDatabaseState } from '../store/serverFacts.ts'
import { givenMasterKeys, masterKeysInFile } from './masterKeys.ts'

export type OpenDatabase = { db: Db; masterKeys: MasterKeys; embedded: boolean; close(): Promise<void> }
export type Role = 'gateway' | 'command'

const commandPoolSize = 2

// The records: any PostgreSQL that DATABASE_URL names, or our own in the data folder.
export async function openDatabase(
  config: Config,
  role: Role,
  onLost = (_why: string) => {},
): Promise<OpenDatabase> {
  const embedded = config.DATABASE_URL ? undefined : await startEmbedded(config.TOLLGATE_DATA_DIR, role)
  embedded?.onExit(onLost)
  const poolSize = role === 'gateway' ? config.TOLLGATE_POOL_SIZE : commandPoolSize
  const db = openDb(embedded?.url ?? (config.DATABASE_URL as string), poolSize)
  const close = async () => {
    await db.end()
    await embedded?.stop()
  }
  try {
    const masterKeys = config.TOLLGATE_MASTER_KEY
      ? givenMasterKeys(config.TOLLGATE_MASTER_KEY)
      : masterKeysInFile(config.TOLLGATE_DATA_DIR, embedded !== undefined)
    return { db, masterKeys, embedded: embedded !== undefined, close }
  } catch (error) {
    await close()
    throw error
  }
}

export class UnfitDatabase extends Error {}

// Before the first write. Who takes payments wants them on the disk, too.
export async function checkDatabase({ db }: OpenDatabase, { durable }: { durable: boolean }) {
  const state = await readDatabaseState(db)
  const why = whyNotBegin(state, migrationNames()) ?? (durable ? whyNotDurable(state) : undefined)
  if (why) throw new UnfitDatabase(why)
}

export class MissingMasterKey extends Error {}

// A node that cannot open the merchants' secrets must not take requests: it would refuse honest ones. Nor may a
// command seal anything: it would be closed to every gateway.
export async function checkMasterKeys({ db, masterKeys, embedded }: OpenDatabase) {
  const inUse = [...(await masterKeyIdsInUse(db)), ...(await installationKeyIdsInUse(db))]
  const unknown = inUse.find(id => !masterKeys.byId(id))
  if (unknown)
    throw new MissingMasterKey(
      `The secrets in this database are sealed with master key ${unknown}, which this Tollgate does not have. ` +
        'Set TOLLGATE_MASTER_KEY to it, or use the data folder whose master.key holds it.',
    )
  if (!embedded) masterKeys.newest() // throws where there is none
}
