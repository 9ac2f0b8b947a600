import { accessSync, chmodSync, constants, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { unpackBinaries } from '../binaries.ts'
import { EmbeddedError } from '../error.ts'
import { privateUser, type User } from '../user.ts'
import { holdsFiles, makeFolder, noPlace } from './folder.ts'
import { applicationPassword } from './password.ts'
import { closeToOthers, whyNotBegin } from './trust.ts'

// Where one database lives, and as whom it runs: PostgreSQL refuses to run as root.
export type DataFolder = {
  dataDir: string
  cluster: string // the folder that is PostgreSQL's own
  log: string
  bin: string
  runAs: User | undefined // undefined: as ourselves
  password: string // with which the application is let in
}

export function openDataFolder(dataDir: string): DataFolder {
  makeFolder(dataDir, 0o700)
  if (!holdsFiles(dataDir)) throw noPlace(dataDir)
  accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  const cluster = join(dataDir, 'postgres')
  const why = isMade(cluster) ? undefined : whyNotBegin(dataDir)
  if (why) throw new EmbeddedError(`${sentence(why)}, or choose another TOLLGATE_DATA_DIR.`)
  closeToOthers(dataDir)
  const runAs = ownerToBe(cluster)
  const { bin, major } = unpackBinaries(dataDir)
  if (isMade(cluster)) checkCluster(cluster, major)
  const password = applicationPassword(dataDir)
  return { dataDir, cluster, log: join(dataDir, 'postgres.log'), bin, runAs, password }
}

const sentence = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

// A database that root makes has a user of its own. One that another user made keeps its owner when root runs a command on
// it.
function ownerToBe(cluster: string): User | undefined {
  const me = process.getuid?.()
  const found = isMade(cluster) ? statSync(cluster) : undefined
  if (me === 0) {
    if (!found) return privateUser()
    if (found.uid !== 0) return { uid: found.uid, gid: found.gid }
    const { uid, gid } = privateUser()
    throw new EmbeddedError(
      `The database files in ${cluster} belong to root, as whom PostgreSQL does not run: ` +
        `give them to a user that nobody else is, such as by chown -R ${uid}:${gid} ${cluster}`,
    )
  }
  if (!found || found.uid === me) return undefined
  throw new EmbeddedError(
    `The database files in ${cluster} belong to user ${found.uid} but Tollgate runs as user ${me}: ` +
      'run it as that user or as root, or choose another TOLLGATE_DATA_DIR.',
  )
}

// An empty folder counts as not made: the new database takes its place.
export function isMade(cluster: string): boolean {
  const found = statSync(cluster, { throwIfNoEntry: false })
  return found !== undefined && readdirSync(cluster).length > 0
}

function checkCluster(cluster: string, major: number) {
  if (statSync(cluster).mode & 0o077) chmodSync(cluster, 0o700) // copied by hand; PostgreSQL insists
  const version = readVersion(cluster)
  if (version === String(major)) return
  throw new EmbeddedError(
    version === undefined
      ? `${cluster} holds no PostgreSQL database: move it away, or choose another TOLLGATE_DATA_DIR.`
      : `The database in ${cluster} was made by PostgreSQL ${version} but this Tollgate brings ${major}: ` +
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
