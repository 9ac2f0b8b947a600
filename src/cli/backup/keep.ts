import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { unverifiedEnding } from '../../actions/backups/createBackup.ts'

const backupName = /^tollgate-\d{8}T\d{6}Z-[0-9a-f]{4}\.tar\.gz(\.enc)?$/
const draftName = /^tollgate-\d{8}T\d{6}Z-[0-9a-f]{4}\.tar\.gz(\.enc)?(\.unverified)?\.[^.]+\.part$/
const abandonedMs = 3_600_000 // a running backup writes all the time

// Removes the oldest backups of a folder. Called when a new one is complete, and verified if that was wanted, so that a
// failure removes no backup. Files with other names stay.
export async function keepNewest(folder: string, count: number): Promise<string[]> {
  const names = (await readdir(folder)).filter(name => backupName.test(name)).toSorted()
  return removeAll(names.slice(0, Math.max(0, names.length - count)).map(name => join(folder, name)))
}

// Removes the drafts of backups that were killed, and former backups that were not verified. Called when a new one is
// complete, so that a verification that fails every night does not fill the disk.
export async function removeAbandoned(folder: string): Promise<string[]> {
  const paths = (await readdir(folder)).filter(isUnfinished).map(name => join(folder, name))
  const abandoned = await Promise.all(paths.map(isAbandoned))
  return removeAll(paths.filter((_, at) => abandoned[at]))
}

const isUnfinished = (name: string) =>
  draftName.test(name) ||
  (name.endsWith(unverifiedEnding) && backupName.test(name.slice(0, -unverifiedEnding.length)))

const isAbandoned = async (path: string) => {
  const file = await stat(path).catch(() => undefined)
  return file !== undefined && Date.now() - file.mtimeMs > abandonedMs
}

async function removeAll(paths: readonly string[]): Promise<string[]> {
  for (const path of paths) await rm(path, { force: true })
  return [...paths]
}
