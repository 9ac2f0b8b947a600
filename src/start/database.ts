import type { Config } from '../config.ts'
import { whyNotDurable, whyNotStartOn } from '../core/fitDatabase.ts'
import { movedText } from '../core/installation/installationTexts.ts'
import { type Role, startEmbedded } from '../postgres/embedded.ts'
import { capitalized } from '../postgres/error.ts'
import type { User } from '../postgres/user.ts'
import { findNeededKey } from '../store/installation/keyUse.ts'
import { whyNoConnection } from '../store/connections/hosts.ts'
import { detectPooler, poolerWithoutStatements } from '../store/connections/pooler.ts'
import { sqlState } from '../store/databaseErrors.ts'
import { type Db, openDb } from '../store/db.ts'
import { whyNotSessionUrl } from '../store/sessionUrl.ts'
import { readStoredIdentity } from '../store/installation/copies.ts'
import type { MasterKeys } from '../store/merchants/vault.ts'
import { readDatabaseState } from '../store/serverFacts.ts'
import { addressOfFolder, addressOfUrl } from './machine.ts'
import { givenMasterKeys, masterKeysInFile } from './masterKeys.ts'
import { mayRead } from './privileges.ts'

export type OpenDatabase = {
  db: Db
  masterKeys: MasterKeys
  embedded: boolean
  address: string // how this process reaches it, without user and password: core/installation/databaseAddress.ts
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
  const poolSize = role === 'command' ? commandPoolSize : config.TOLLGATE_POOL_SIZE
  const db = embedded
    ? openDb(embedded.url, poolSize)
    : openDb(config.DATABASE_URL as string, poolSize, 'tollgate', config.TOLLGATE_DIRECT_DATABASE_URL)
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
      address: embedded ? addressOfFolder(config.TOLLGATE_DATA_DIR) : addressOfUrl(db.url),
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
function checkConnectionFiles(db: Db, user: User) {
  for (const { url, setting } of addressesOf(db)) checkFilesOf(url, setting, user)
}

const addressesOf = ({ url, sessionUrl }: Db) => [
  { url, setting: 'DATABASE_URL' },
  ...(sessionUrl === url ? [] : [{ url: sessionUrl, setting: 'TOLLGATE_DIRECT_DATABASE_URL' }]),
]

function checkFilesOf(url: string, setting: string, user: User) {
  for (const name of ['sslrootcert', 'sslcert', 'sslkey', 'sslcrl']) {
    const value = new RegExp(`[?&]${name}=([^&]+)`).exec(url)?.[1]
    const path = value && decodeURIComponent(value)
    if (path && !mayRead(user, path))
      throw new UnfitDatabase(
        `The file ${path} (${name} in ${setting}) cannot be read by ${servesAs(user.uid)}. ${fix}`,
      )
  }
}

// Open connections stay open, but new ones may need what only root has: its password file, or its name.
async function checkNewConnection(db: Db) {
  for (const { url, setting } of addressesOf(db)) {
    const why = await whyNoConnection(url)
    if (why)
      throw new UnfitDatabase(
        `The database accepts no new connection from ${servesAs(process.getuid?.())} (${why}). ${setting} must hold ` +
          `the password itself: root's ~/.pgpass and root's name are not used. ${fix}`,
      )
  }
}

// Runs before the first write. A gateway also needs a database that writes to its disk before it confirms a commit.
// `migrations`: the names of those of this release.
export async function checkDatabase(
  { db, embedded }: OpenDatabase,
  migrations: readonly string[],
  { durable }: { durable: boolean },
) {
  if (!embedded) await checkPooler(db)
  const state = await readDatabaseState(db)
  const why = whyNotStartOn(state, migrations) ?? (durable ? whyNotDurable(state) : undefined)
  if (why) throw new UnfitDatabase(why)
}

// A server that cannot be reached now is not its concern: the statements that follow wait for it.
async function checkPooler(db: Db) {
  const pooler = await detectPooler(db.url).catch(() => undefined)
  const fault = pooler === 'unprepared' ? poolerWithoutStatements : await whyNotSessionUrl(db)
  if (fault) throw new UnfitDatabase(`${capitalized(fault.fact)}. ${fault.todo}`)
}

// Nothing is stored any more in a database whose payments were moved to another one.
export async function checkNotMoved({ db }: Pick<OpenDatabase, 'db'>) {
  const identity = await readStoredIdentity(db).catch((error: unknown) => {
    if (sqlState(error) === '42P01') return undefined // there is no such table yet
    throw error
  })
  if (identity?.stored?.state === 'moved') throw new UnfitDatabase(movedText(identity.stored.moved_to))
}

export class MissingMasterKey extends Error {}

// A node that cannot decrypt the merchants' secrets would refuse valid requests, and a command would seal secrets that no
// gateway can open. So both refuse to start. Single secrets that nobody can open do not stop the others.
export async function checkMasterKeys({ db, masterKeys, embedded }: OpenDatabase) {
  const needed = await findNeededKey(db, masterKeys)
  if (needed)
    throw new MissingMasterKey(
      `The secrets in this database are sealed with master key ${needed}, which this Tollgate does not have. ` +
        'Set TOLLGATE_MASTER_KEY to it, or use the data folder that has it in master.key.',
    )
  if (!embedded) masterKeys.newest() // throws if there is none
}
