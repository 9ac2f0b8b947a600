import type { Config } from '../config.ts'
import { whyNotDurable, whyNotStartOn } from '../core/fitDatabase.ts'
import { type Role, startEmbedded } from '../postgres/embedded.ts'
import type { User } from '../postgres/user.ts'
import { whyNoConnection } from '../store/connections/hosts.ts'
import { type Db, openDb } from '../store/db.ts'
import { installationKeyIdsInUse } from '../store/installation/installation.ts'
import { masterKeyIdsInUse } from '../store/merchants/merchants.ts'
import type { MasterKeys } from '../store/merchants/vault.ts'
import { readDatabaseState } from '../store/serverFacts.ts'
import { givenMasterKeys, masterKeysInFile } from './masterKeys.ts'
import { mayRead } from './privileges.ts'

export type OpenDatabase = {
  db: Db
  masterKeys: MasterKeys
  embedded: boolean
  giveTo(user: User): void // called as root: gives this user the rights that it needs as the gateway's user
  checkReachable(): Promise<void> // called as that user: throws if it could not reach the database or the master key
  close(): Promise<void>
}

const commandPoolSize = 2

// Opens the PostgreSQL of DATABASE_URL, or the private one in the data folder.
export async function openDatabase(
  config: Config,
  role: Role,
  onLost = (_why: string) => {},
  runAs?: User, // the user that a gateway started by root becomes
): Promise<OpenDatabase> {
  const embedded = config.DATABASE_URL
    ? undefined
    : await startEmbedded(config.TOLLGATE_DATA_DIR, role, runAs?.gid)
  embedded?.onExit(onLost)
  const poolSize = role === 'gateway' ? config.TOLLGATE_POOL_SIZE : commandPoolSize
  const db = openDb(embedded?.url ?? (config.DATABASE_URL as string), poolSize)
  const close = async () => {
    await db.end()
    await embedded?.stop()
  }
  try {
    const keyFile = config.TOLLGATE_MASTER_KEY
      ? undefined
      : masterKeysInFile(config.TOLLGATE_DATA_DIR, embedded !== undefined)
    return {
      db,
      masterKeys: keyFile ?? givenMasterKeys(config.TOLLGATE_MASTER_KEY ?? []),
      embedded: embedded !== undefined,
      // With DATABASE_URL the key file does not change while a gateway runs, because `master-key rotate` refuses to
      // change it. So it is not read again.
      giveTo(user) {
        if (embedded) keyFile?.giveTo(user)
        else checkConnectionFiles(db, user)
      },
      async checkReachable() {
        if (embedded) keyFile?.checkReadable()
        await checkNewConnection(db)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

export class UnfitDatabase extends Error {}

const servesAs = (uid: number | undefined) => `user ${uid}, as which a gateway that root starts serves`
const fix = 'Change that, or start Tollgate as an ordinary user who can connect.'

// Called as root. Every new connection reads these files again.
function checkConnectionFiles({ url }: Db, user: User) {
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const value = new RegExp(`[?&]${name}=([^&]+)`).exec(url)?.[1]
    const path = value && decodeURIComponent(value)
    if (path && !mayRead(user, path))
      throw new UnfitDatabase(
        `The file ${path} (${name} in DATABASE_URL) cannot be read by ${servesAs(user.uid)}. ${fix}`,
      )
  }
}

// Open connections stay open, but new ones may need what only root has: its password file, or its name.
async function checkNewConnection({ url }: Db) {
  const why = await whyNoConnection(url)
  if (why)
    throw new UnfitDatabase(
      `The database accepts no new connection from ${servesAs(process.getuid?.())} (${why}). DATABASE_URL must hold ` +
        `the password itself: root's ~/.pgpass and root's name are not used. ${fix}`,
    )
}

// Runs before the first write. A gateway also needs a database that writes to its disk before it confirms a commit.
// `migrations`: the names of those of this release.
export async function checkDatabase(
  { db }: OpenDatabase,
  migrations: readonly string[],
  { durable }: { durable: boolean },
) {
  const state = await readDatabaseState(db)
  const why = whyNotStartOn(state, migrations) ?? (durable ? whyNotDurable(state) : undefined)
  if (why) throw new UnfitDatabase(why)
}

export class MissingMasterKey extends Error {}

// A node that cannot decrypt the merchants' secrets would refuse valid requests, and a command would seal secrets that no
// gateway can open. So both refuse to start.
export async function checkMasterKeys({ db, masterKeys, embedded }: OpenDatabase) {
  const inUse = [...(await masterKeyIdsInUse(db)), ...(await installationKeyIdsInUse(db))]
  const unknown = inUse.find(id => !masterKeys.byId(id))
  if (unknown)
    throw new MissingMasterKey(
      `The secrets in this database are sealed with master key ${unknown}, which this Tollgate does not have. ` +
        'Set TOLLGATE_MASTER_KEY to it, or use the data folder that has it in master.key.',
    )
  if (!embedded) masterKeys.newest() // throws if there is none
}
