import { BackupFault, damaged } from '../../core/backup/fault.ts'
import { type BackupHead, type BackupManifest, differenceOf, linesIn } from '../../core/backup/manifest.ts'
import { Unavailable } from '../../core/interface/refusal.ts'
import { backupTables, createdTables } from '../../store/backups/backupTables.ts'
import {
  type CopySession,
  type CopyTable,
  forWriting,
  openCopySession,
} from '../../store/backups/copySession.ts'
import {
  columnsOf,
  emptyTable,
  lockForRestore,
  readInstallationMark,
  readTotals,
} from '../../store/backups/snapshot.ts'
import { isLost } from '../../store/databaseErrors.ts'
import type { Db, Tx } from '../../store/db.ts'
import { markDatabaseAsCopy } from '../../store/installation/copies.ts'
import { migrate } from '../../store/migrate/migrate.ts'
import { migrationNames } from '../../store/migrate/migrationList.ts'
import { loadTable, refuseNonEmpty, refuseRows } from './fillDatabase.ts'
import { type BackupSource, readBackup } from './readBackup.ts'

export type Restoring = {
  clock(): Date
  onProgress(progress: { table: string; rows: number; bytes: number }): void
  onMigration(text: string): void
}

// Fills an empty database with a backup. All rows come in one transaction, which is committed after the last byte of the
// file was checked: a restore that is killed leaves a database without data. It is marked as a copy before the data, so that
// no node takes it for the real one.
export async function restoreBackup(
  db: Db,
  source: BackupSource,
  { clock, onProgress, onMigration }: Restoring,
): Promise<BackupManifest> {
  await refuseRestored(db)
  await refuseNonEmpty(db)
  let session: CopySession | undefined
  const opened = () => session ?? fail('the backup has no description')
  const done = { rows: 0, bytes: 0 }
  try {
    const manifest = await readBackup(source, {
      async begin(head) {
        refuseUnknownSchema(head)
        await migrate(db, { until: head.migrations.at(-1) as string, onProgress: onMigration })
        const reason = `The restore of backup ${head.backup_id} did not finish: run it again.`
        await markDatabaseAsCopy(db, { reason, now: clock() })
        session = await openCopySession(db.url, forWriting)
        await prepareTables(session.tx, head)
      },
      table: (table, data) =>
        loadTable(opened(), table, data, part => {
          done.rows += linesIn(part)
          done.bytes += part.length
          onProgress({ table: table.name, ...done })
        }),
    })
    const { tx, commit } = opened()
    const wrong = differenceOf('sums', manifest.totals, await readTotals(tx))
    if (wrong) throw damaged(wrong)
    const { backup_id, taken_at } = manifest.head
    await markDatabaseAsCopy(tx, {
      reason: `${restoredMark} ${backup_id} of ${taken_at}.`,
      now: clock(),
    })
    await commit()
    await migrate(db, { onProgress: onMigration })
    return manifest
  } catch (error) {
    throw isLost(error) && !('path' in (error as object)) ? new Unavailable(error) : error // a file has a path
  } finally {
    await session?.close() // rolls back what was not committed
  }
}

const restoredMark = 'It was restored from backup'

// A restore that was killed after its commit is run again.
async function refuseRestored(db: Db) {
  const mark = await readInstallationMark(db).catch(() => undefined) // no table yet
  if (mark?.state === 'copy' && mark.reason.startsWith(restoredMark))
    throw new BackupFault(
      `A backup was restored into this database already, with all of its rows. ${mark.reason} Start nodes on it, or declare ` +
        'it the real one by tollgate adopt. To restore again, make a new database (createdb).',
    )
}

function refuseUnknownSchema({ migrations, version, tables }: BackupHead) {
  const known = migrationNames()
  const isKnown = migrations.every((name, at) => name === known[at])
  if (!isKnown)
    throw new BackupFault(
      `The backup was made by Tollgate ${version} with the migration ${migrations.find((name, at) => name !== known[at])}, ` +
        'which this Tollgate does not have: restore it with that version or a later one.',
    )
  const wrong = differenceOf(
    'tables',
    backupTables(migrations),
    tables.map(({ name }) => name),
  )
  if (wrong) throw damaged(wrong)
}

const sortedColumns = (tables: readonly CopyTable[]) =>
  tables.map(({ name, columns }) => [name, columns.toSorted()])

// No other session writes until the end of the transaction, so what was empty before is still empty.
async function prepareTables(tx: Tx, head: BackupHead) {
  const names = createdTables(head.migrations)
  await lockForRestore(tx, names)
  await refuseRows(tx, names)
  await emptyTable(tx, 'installation')
  const present = await columnsOf(
    tx,
    head.tables.map(({ name }) => name),
  )
  const wrong = differenceOf('columns', sortedColumns(head.tables), sortedColumns(present))
  if (wrong) throw damaged(wrong)
}

function fail(why: string): never {
  throw damaged(why)
}
