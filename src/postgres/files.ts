import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  statfsSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf, EmbeddedError } from './error.ts'
import { isPrivate, type User } from './user.ts'

// Writes the files and folders of PostgreSQL and its password, and checks which of them can be trusted.

// Creates a file that only its owner may read, and syncs it to the disk. Fails if the path exists, even as a link.
export function writeForOwner({ uid, gid }: User, path: string, text: string) {
  const file = openSync(path, 'wx', 0o600)
  try {
    fchmodSync(file, 0o600) // regardless of the umask
    if (process.getuid?.() === 0) fchownSync(file, uid, gid)
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

// Creates such a file unless it exists. Two processes may start at once on a new folder: both prepare a file, and one of
// them wins by linking it.
export function createOnce(owner: User, path: string, text: string) {
  const draft = draftOf(path)
  writeForOwner(owner, draft, text)
  try {
    linkSync(draft, path)
    syncFolder(dirname(path))
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
}

export const draftOf = (path: string) => `${path}.${randomBytes(8).toString('hex')}`

export function syncFolder(path: string) {
  const folder = openSync(path, 'r')
  fsyncSync(folder)
  closeSync(folder)
}

// File systems of the kernel, which store no files: proc, sysfs and both kinds of cgroup.
const kernelFileSystems = new Set([0x9fa0, 0x62656572, 0x27e0eb, 0x63677270])

export const holdsFiles = (folder: string) => !kernelFileSystems.has(statfsSync(folder).type)

// Creates a folder and its parents. Node's `recursive` option never returns if a folder cannot exist, as in /proc.
export function makeFolder(path: string, mode = 0o777) {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EEXIST' && statSync(path).isDirectory()) return
    const parent = dirname(path)
    if (code !== 'ENOENT') throw error
    if (statSync(parent, { throwIfNoEntry: false })) throw noPlace(path)
    makeFolder(parent, mode)
    mkdirSync(path, { mode })
  }
}

export const noPlace = (path: string) =>
  new EmbeddedError(`No files can be stored in ${path}: choose another TOLLGATE_DATA_DIR.`)

const othersMayWrite = 0o022
const everybodyMayWrite = 0o002
const sticky = 0o1000 // users may add files, and move or remove only their own

const me = () => process.getuid?.()
const isOwnOrRoots = ({ uid }: Stats) => uid === me() || uid === 0

// Tollgate runs and reads files of this folder, so no other user may be able to change them or to replace the folder.
export function isOwnFolder(folder: string): boolean {
  const stats = lstatSync(folder, { throwIfNoEntry: false })
  return stats?.isDirectory() === true && stats.uid === me() && (stats.mode & othersMayWrite) === 0
}

export const isReachedSafely = (folder: string) => parentsOf(realpathSync(folder)).every(isSafeParent)

export const parentsOf = (path: string): string[] =>
  dirname(path) === path ? [] : [dirname(path), ...parentsOf(dirname(path))]

function isSafeParent(folder: string): boolean {
  const stats = statSync(folder)
  return isOwnOrRoots(stats) && ((stats.mode & othersMayWrite) === 0 || (stats.mode & sticky) !== 0)
}

// Why a new database is not created in a folder. An existing database is used anyway.
export function whyNotUsable(folder: string): string | undefined {
  const stats = statSync(folder)
  if (!isOwnOrRoots(stats))
    return `${folder} belongs to user ${stats.uid}, who could change what is in it: give it to the user who runs Tollgate`
  if (stats.mode & everybodyMayWrite && stats.uid !== me())
    return `everybody may write to ${folder}: give it to the user who runs Tollgate`
  return undefined
}

// Takes the right to write away from other users. Throws if one of them has created a file already.
export function closeToOthers(folder: string) {
  const stats = statSync(folder)
  if ((stats.mode & othersMayWrite) === 0) return
  const foreign = readdirSync(folder).find(name => !isKnown(lstatSync(join(folder, name)), stats))
  if (foreign !== undefined)
    throw new EmbeddedError(
      `Others may write to ${folder}, and ${foreign} in it was put there by one of them: ` +
        `look at it, remove it, and run chmod 700 ${folder}`,
    )
  if (me() === 0 || stats.uid === me()) chmodSync(folder, stats.mode & 0o777 & ~othersMayWrite)
}

const isKnown = (stats: Stats, folder: Stats) =>
  isOwnOrRoots(stats) || stats.uid === folder.uid || (me() === 0 && isPrivate(stats.uid))
