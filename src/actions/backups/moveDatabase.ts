import { BackupFault, damaged } from '../../core/backup/fault.ts'
import { differenceOf, linesIn } from '../../core/backup/manifest.ts'
import { Unavailable } from '../../core/interface/refusal.ts'
import { backupTables } from '../../store/backups/backupTables.ts'
import {
  type CopySession,
  forMoving,
  forReading,
  forWriting,
  openCopySession,
} from '../../store/backups/copySession.ts'
import {
  columnsOf,
  countRows,
  emptyTable,
  lockForRestore,
  readInstallationMark,
  readTotals,
} from '../../store/backups/snapshot.ts'
import { isLost } from '../../store/databaseErrors.ts'
import type { Db, Tx } from '../../store/db.ts'
import {
  adoptDatabase,
  markDatabaseAsCopy,
  markDatabaseAsMoved,
  readSystemIdentifier,
} from '../../store/installation/copies.ts'
import { migrate } from '../../store/migrate/migrate.ts'
import type { Actor } from '../../core/access/audit.ts'
import { migrationNames } from '../../store/migrate/migrationList.ts'
import { audited } from '../access/audit.ts'
import { listNodes } from '../installation/nodes.ts'
import { loadTable, refuseNonEmpty, refuseRows } from './fillDatabase.ts'

export type Moving = {
  fromAddress: string // without user and password
  toAddress: string // of the new database, likewise
  actor: Actor
  clock(): Date
  onProgress(progress: { table: string; rows: number; bytes: number }): void
  onMigration(text: string): void
}

export type Moved = { tables: { name: string; rows: number }[]; wasCopiedBefore: boolean }

// The mark of the new database between its commit and the mark of the old one.
const unfinished = 'tollgate move did not finish: run it again.'
export const copiedMark =
  'tollgate move has copied everything, and did not finish: run it again, or tollgate adopt here if the old database is marked as moved.'

// Copies all rows to an empty database, in one transaction each, and makes that one the real one. Three commits, in this
// order: the new database is filled, the old one is marked as moved, the new one is adopted. After an interruption the
// marks show where it was, so it is run again; at no moment do both databases act.
export async function moveDatabase(from: Db, to: Db, moving: Moving): Promise<Moved> {
  const tables = backupTables(migrationNames())
  await refuseNodes(from)
  let source: CopySession | undefined
  try {
    source = await openCopySession(from.url, forMoving)
    await lockForRestore(source.tx, [...tables, 'nodes']) // nobody writes to the old database until its mark is committed
    // Read behind the lock: another move may have ended meanwhile, or a node may have started.
    const wasCopiedBefore = await isCopied(to)
    refuseUnmovable(await readInstallationMark(source.tx), wasCopiedBefore, moving)
    await refuseNodes(from)
    if (!wasCopiedBefore) await copyAll(source, to, tables, moving)
    const counts = await countRows(source.tx, tables)
    await compareContent(source.tx, counts, to, tables)
    await refuseNodes(from)
    await markDatabaseAsMoved(source.tx, { movedTo: moving.toAddress, now: moving.clock() })
    await source.commit()
    const system_identifier = await readSystemIdentifier(to)
    await adoptMoved(to, system_identifier, moving)
    return { tables: counts, wasCopiedBefore }
  } catch (error) {
    throw isLost(error) ? new Unavailable(error) : error
  } finally {
    await source?.close()
  }
}

// The audit log goes on in the new database.
function adoptMoved(
  to: Db,
  system_identifier: string | null,
  { fromAddress, toAddress, actor, clock }: Moving,
) {
  const now = clock()
  return audited(to, actor, now, async (tx, record) => {
    await adoptDatabase(tx, { address: toAddress, system_identifier, now })
    await record({
      merchant_id: null,
      action: 'database.move',
      subject: toAddress,
      before: { address: fromAddress },
      after: { address: toAddress },
    })
  })
}

// A move that was interrupted after the mark of the old database has only to be adopted.
function refuseUnmovable(
  mark: Awaited<ReturnType<typeof readInstallationMark>>,
  wasCopiedBefore: boolean,
  { toAddress }: Moving,
) {
  if (mark?.state === 'moved' && !(wasCopiedBefore && mark.moved_to === toAddress))
    throw new BackupFault(`This database has moved to ${mark.moved_to} already.`)
  if (mark?.state === 'copy')
    throw new BackupFault('This database is a copy: declare it the real one first, by tollgate adopt.')
}

// In a session of its own: counting many rows takes longer than a statement of the pool may.
async function compareContent(
  source: Tx,
  counts: Awaited<ReturnType<typeof countRows>>,
  to: Db,
  tables: readonly string[],
) {
  const target = await openCopySession(to.url, forReading)
  try {
    const wrong =
      differenceOf('rows', counts, await countRows(target.tx, tables)) ??
      differenceOf('sums', await readTotals(source), await readTotals(target.tx))
    if (wrong)
      throw new BackupFault(
        `The databases differ after the copy (${wrong}). Nothing was marked as moved. If nodes ran on the old database since an ` +
          'interrupted move, the copy is out of date: stop them. Make a new empty database (createdb) and run tollgate move ' +
          'with --to that one; then remove this one.',
      )
  } finally {
    await target.close()
  }
}

async function refuseNodes(db: Db) {
  const running = (await listNodes(db)).filter(({ presence }) => presence !== 'gone')
  if (running.length > 0)
    throw new BackupFault(
      `${running.length === 1 ? 'A node runs' : `${running.length} nodes run`} on this database: stop every node first, and ` +
        'start them with the new DATABASE_URL afterwards.',
    )
}

const isCopied = async (to: Tx) => {
  const mark = await readInstallationMark(to).catch(() => undefined) // no table yet
  return mark?.state === 'copy' && mark.reason === copiedMark
}

async function copyAll(source: CopySession, to: Db, names: readonly string[], moving: Moving) {
  await refuseNonEmpty(to)
  await migrate(to, { onProgress: moving.onMigration })
  await markDatabaseAsCopy(to, { reason: unfinished, now: moving.clock() })
  const target = await openCopySession(to.url, forWriting)
  try {
    await lockForRestore(target.tx, names)
    await refuseRows(target.tx, names)
    await emptyTable(target.tx, 'installation')
    const tables = await columnsOf(source.tx, names)
    const wrong = differenceOf('columns', tables, await columnsOf(target.tx, names))
    if (wrong) throw damaged(wrong)
    const done = { rows: 0, bytes: 0 }
    for (const table of tables)
      await loadTable(target, table, source.copyOut(table) as AsyncIterable<Buffer>, part => {
        done.rows += linesIn(part)
        done.bytes += part.length
        moving.onProgress({ table: table.name, ...done })
      })
    await markDatabaseAsCopy(target.tx, { reason: copiedMark, now: moving.clock() })
    await target.commit()
  } finally {
    await target.close()
  }
}
