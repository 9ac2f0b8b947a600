import { BackupFault, damaged } from '../../core/backup/fault.ts'
import { linesIn } from '../../core/backup/manifest.ts'
import { createdTables } from '../../store/backups/backupTables.ts'
import type { CopySession, CopyTable } from '../../store/backups/copySession.ts'
import { firstWithRows, presentTables } from '../../store/backups/snapshot.ts'
import { isInvalidData } from '../../store/databaseErrors.ts'
import type { Tx } from '../../store/db.ts'
import { migrationNames } from '../../store/migrate/migrationList.ts'

// What a node or an interrupted restore may have left in a database without data.
const mayHaveRows = new Set(['installation', 'nodes'])

// A database with other tables is likely the wrong one.
export async function refuseNonEmpty(tx: Tx) {
  const known = new Set(['migrations', ...createdTables(migrationNames())])
  const present = await presentTables(tx)
  const strange = present.find(name => !known.has(name))
  if (strange) throw notEmpty(`it has a table ${strange} that is not one of Tollgate`)
  await refuseRows(
    tx,
    present.filter(name => name !== 'migrations'),
  )
}

export async function refuseRows(tx: Tx, tables: readonly string[]) {
  const filled = await firstWithRows(
    tx,
    tables.filter(name => !mayHaveRows.has(name)),
  )
  if (filled) throw notEmpty(`its table ${filled} has rows`)
}

const notEmpty = (why: string) =>
  new BackupFault(
    `Only an empty database is filled, and this one is not empty: ${why}. Make a new one (createdb) and name it, or choose ` +
      'another TOLLGATE_DATA_DIR.',
  )

// Stores the rows of one table, and compares how many were sent with how many were stored.
export async function loadTable(
  { copyIn }: CopySession,
  table: CopyTable,
  data: AsyncIterable<Buffer>,
  onPart: (part: Buffer) => void,
) {
  let sent = 0
  async function* counted() {
    for await (const part of data) {
      sent += linesIn(part)
      onPart(part)
      yield part
    }
  }
  try {
    const stored = await copyIn(table, counted())
    if (stored !== sent) throw damaged(`${table.name} has ${sent} rows, and ${stored} were stored`)
  } catch (error) {
    throw isInvalidData(error) ? damaged(`${table.name}: ${(error as Error).message}`, error) : error
  }
}
