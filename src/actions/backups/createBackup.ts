import { createHash } from 'node:crypto'
import { open, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { encrypt } from './cipher.ts'
import { BackupFault } from '../../core/backup/fault.ts'
import {
  asFile,
  type BackupHead,
  type BackupManifest,
  headFile,
  linesIn,
  manifestFile,
  partFile,
  type TableFacts,
} from '../../core/backup/manifest.ts'
import { Unavailable } from '../../core/interface/refusal.ts'
import { tarEnd, tarFile } from '../../core/backup/tar.ts'
import { backupTables } from '../../store/backups/backupTables.ts'
import {
  type CopySession,
  type CopyTable,
  forReading,
  openCopySession,
} from '../../store/backups/copySession.ts'
import {
  columnsOf,
  estimateRows,
  lockForReading,
  readSnapshotFacts,
  readTotals,
} from '../../store/backups/snapshot.ts'
import { isLost } from '../../store/databaseErrors.ts'
import { findSharded } from '../../store/migrate/distribute.ts'
import { migrationNames } from '../../store/migrate/migrationList.ts'

const partBytes = 4 * 1024 * 1024 // what is in memory of a table at one time
const compressionLevel = 3

export type BackupProgress = { table: string; rows: number; ofRows: number | undefined; bytes: number }

const noCommonSnapshot =
  'The tables are distributed to the workers of Citus, which have no common snapshot, so a backup would not be of one moment. ' +
  'Use the backups of the servers: docs/database.md.'

type Making = {
  backup_id: string
  version: string // of this Tollgate
  passphrase: string | undefined // undefined: not encrypted
  onProgress(progress: BackupProgress): void
}

// A file that is still to be verified has a name of its own, so that it is not taken for one that was.
export const unverifiedEnding = '.unverified'
export const alreadyThere = (path: string) => `There is a file ${path} already: name another, or remove it.`

// Writes every row of one snapshot to a file, beside running nodes. The file gets its name only when it is complete and on
// the disk, so whatever has the name is a whole backup.
export async function createBackup(url: string, path: string, making: Making): Promise<BackupManifest> {
  if (await stat(path).catch(() => undefined)) throw new BackupFault(alreadyThere(path))
  if (!(await stat(dirname(path)).catch(() => undefined))?.isDirectory())
    throw new BackupFault(`There is no such folder: ${dirname(path)}. Make it first.`)
  const draft = `${path}.${making.backup_id}.part`
  const session = await openCopySession(url, forReading)
  try {
    const manifest = await writeDraft(session, draft, making)
    await rename(draft, path)
    await syncFolder(dirname(path))
    return manifest
  } catch (error) {
    await rm(draft, { force: true })
    throw explained(error, path)
  } finally {
    await session.close()
  }
}

export async function nameVerified(unverified: string, name: string) {
  await rename(unverified, name)
  await syncFolder(dirname(name))
}

async function writeDraft(session: CopySession, draft: string, making: Making): Promise<BackupManifest> {
  const file = await open(draft, 'wx', 0o600)
  try {
    let manifest: BackupManifest | undefined
    const archive = archiveOf(session, making, whole => (manifest = whole))
    const packed = createGzip({ level: compressionLevel })
    const sink = (source: AsyncIterable<Buffer>) => writeFile(file, source)
    const { passphrase } = making
    if (passphrase === undefined) await pipeline(archive, packed, sink)
    else await pipeline(archive, packed, source => encrypt(source, passphrase), sink)
    await file.sync()
    if (!manifest) throw new Error('the archive ended without its manifest')
    return manifest
  } finally {
    await file.close()
  }
}

const diskErrors = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS'])

function explained(error: unknown, path: string): unknown {
  const { code, message } = error as NodeJS.ErrnoException
  if (code && diskErrors.has(code))
    return new BackupFault(`${path} cannot be written (${message}): make room, or name another place.`)
  return isLost(error) ? new Unavailable(error) : error
}

// The name of a new file is lost in a power cut until its folder is on the disk.
async function syncFolder(folder: string) {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function* archiveOf(
  session: CopySession,
  making: Making,
  onManifest: (manifest: BackupManifest) => void,
): AsyncGenerator<Buffer> {
  const migrations = [...migrationNames()]
  const names = backupTables(migrations)
  await lockForReading(session.tx, names)
  if ((await findSharded(session.tx)).length > 0) throw new BackupFault(noCommonSnapshot)
  const facts = await readSnapshotFacts(session.tx)
  if (facts.migrations.join() !== migrations.join())
    throw new BackupFault('The schema of the database was changed at this moment: run this again.')
  const taken_at = facts.taken_at.toISOString()
  const tables = await columnsOf(session.tx, names)
  const { backup_id, version } = making
  const head: BackupHead = {
    format: 1,
    backup_id,
    version,
    taken_at,
    migrations,
    tables,
    master_keys: facts.master_keys,
  }
  yield* tarFile({ name: headFile, body: asFile(head) }, facts.taken_at)
  const ofRows = await estimateRows(session.tx, names)
  const written: TableFacts[] = []
  let before = { rows: 0, bytes: 0 }
  for (const table of tables) {
    const report = (rows: number, bytes: number) =>
      making.onProgress({ table: table.name, rows: before.rows + rows, ofRows, bytes: before.bytes + bytes })
    const tableFacts = yield* filesOfTable(session, table, facts.taken_at, report)
    written.push(tableFacts)
    before = { rows: before.rows + tableFacts.rows, bytes: before.bytes + tableFacts.bytes }
  }
  const manifest: BackupManifest = { head, tables: written, totals: await readTotals(session.tx) }
  yield* tarFile({ name: manifestFile, body: asFile(manifest) }, facts.taken_at)
  yield tarEnd()
  onManifest(manifest)
}

async function* filesOfTable(
  session: CopySession,
  table: CopyTable,
  takenAt: Date,
  onProgress: (rows: number, bytes: number) => void,
): AsyncGenerator<Buffer, TableFacts> {
  const hash = createHash('sha256')
  let [rows, bytes, part] = [0, 0, 0]
  let waiting: Buffer[] = []
  let waitingBytes = 0
  const flush = function* () {
    const body = Buffer.concat(waiting)
    hash.update(body)
    rows += linesIn(body)
    bytes += body.length
    waiting = []
    waitingBytes = 0
    onProgress(rows, bytes)
    yield* tarFile({ name: partFile(table.name, ++part), body }, takenAt)
  }
  for await (const chunk of session.copyOut(table) as AsyncIterable<Buffer>) {
    waiting.push(chunk)
    waitingBytes += chunk.length
    if (waitingBytes >= partBytes) yield* flush()
  }
  if (waitingBytes > 0) yield* flush()
  return { name: table.name, rows, bytes, sha256: hash.digest('hex') }
}
