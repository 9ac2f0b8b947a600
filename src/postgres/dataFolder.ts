import { randomBytes } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { unpackBinaries } from './binaries.ts'
import { capitalized, EmbeddedError } from './error.ts'
import { closeToOthers, createOnce, holdsFiles, makeFolder, noPlace, whyNotUsable } from './files.ts'
import { appRole } from './session.ts'
import { privateUser, type User } from './user.ts'

// The folder of one private database: the files of PostgreSQL (the cluster), its log and the password.
export type DataFolder = {
  dataDir: string
  cluster: string // PGDATA
  log: string
  bin: string
  runAs: User | undefined // the user of the server, if it is not the current one: PostgreSQL refuses to run as root
  password: string // of the application's role
}

export function openDataFolder(dataDir: string): DataFolder {
  makeFolder(dataDir, 0o700)
  if (!holdsFiles(dataDir)) throw noPlace(dataDir)
  accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  const cluster = join(dataDir, 'postgres')
  const why = isMade(cluster) ? undefined : whyNotUsable(dataDir)
  if (why) throw new EmbeddedError(`${capitalized(why)}, or choose another TOLLGATE_DATA_DIR.`)
  closeToOthers(dataDir)
  const runAs = ownerToBe(cluster)
  const { bin, major } = unpackBinaries(dataDir)
  if (isMade(cluster)) checkCluster(cluster, major)
  const password = applicationPassword(dataDir)
  return { dataDir, cluster, log: join(dataDir, 'postgres.log'), bin, runAs, password }
}

// A database that root creates gets a dedicated user. The owner of a database that another user has created does not
// change when root runs a command on it.
function ownerToBe(cluster: string): User | undefined {
  const me = process.getuid?.()
  const stats = isMade(cluster) ? statSync(cluster) : undefined
  if (me === 0) {
    if (process.platform !== 'linux')
      throw new EmbeddedError(
        'PostgreSQL does not run as root, and only on Linux does Tollgate give it a user of its own: ' +
          'start Tollgate as an ordinary user, or set DATABASE_URL.',
      )
    if (!stats) return privateUser()
    if (stats.uid !== 0) return { uid: stats.uid, gid: stats.gid }
    const { uid, gid } = privateUser()
    throw new EmbeddedError(
      `The database files in ${cluster} belong to root, as whom PostgreSQL does not run: ` +
        `give them to a user that runs nothing else, such as by chown -R ${uid}:${gid} ${cluster}`,
    )
  }
  if (!stats || stats.uid === me) return undefined
  throw new EmbeddedError(
    `The database files in ${cluster} belong to user ${stats.uid} but Tollgate runs as user ${me}: ` +
      'run it as that user or as root, or choose another TOLLGATE_DATA_DIR.',
  )
}

// An empty folder counts as no database: the new one replaces it.
export function isMade(cluster: string): boolean {
  const stats = statSync(cluster, { throwIfNoEntry: false })
  return stats !== undefined && readdirSync(cluster).length > 0
}

function checkCluster(cluster: string, major: number) {
  if (statSync(cluster).mode & 0o077) chmodSync(cluster, 0o700) // after a copy by hand; PostgreSQL refuses others
  const version = readVersion(cluster)
  if (version === String(major)) return
  throw new EmbeddedError(
    version === undefined
      ? `${cluster} holds no PostgreSQL database: move it away, or choose another TOLLGATE_DATA_DIR.`
      : `The database in ${cluster} was made by PostgreSQL ${version} but this Tollgate includes ${major}: ` +
          'run the Tollgate that made it, or move the data with pg_dump to a server of your own (DATABASE_URL).',
  )
}

function readVersion(cluster: string): string | undefined {
  try {
    return readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
  } catch {
    return undefined
  }
}

// The password file has one line in the format of PGPASSFILE, and only the owner of the data folder may read it.
function applicationPassword(dataDir: string): string {
  const file = join(dataDir, 'postgres.pgpass')
  const owner = statSync(dataDir)
  if (!existsSync(file)) createOnce(owner, file, `*:*:*:${appRole}:${randomBytes(32).toString('hex')}\n`)
  return readPassword(file, owner.uid)
}

function readPassword(file: string, owner: number): string {
  const { uid } = lstatSync(file)
  if (![owner, 0, process.getuid?.()].includes(uid) || !lstatSync(file).isFile())
    throw new EmbeddedError(`${file} was put there by another user (${uid}): remove it and start again.`)
  if (statSync(file).mode & 0o077) chmodSync(file, 0o600) // after a copy by hand
  const password = /^\*:\*:\*:tollgate_app:([0-9a-f]{64})\n$/.exec(readFileSync(file, 'utf8'))?.[1]
  if (password !== undefined) return password
  throw new EmbeddedError(
    `${file} does not contain the password of the database: stop Tollgate and remove it, the next start makes another.`,
  )
}
