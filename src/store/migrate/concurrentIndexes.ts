import { type Migration, statementsOf } from './migrationList.ts'
import {
  beginWithMigrationLock,
  isApplied,
  lockTimeoutMs,
  type MigratedDb,
  MigrationLockBusy,
  type MigrationSession,
  openMigrationSession,
  recordApplied,
} from './migrationSession.ts'

// `create index concurrently` and `drop index concurrently` do not block writers and cannot run in a transaction. A
// migration that starts with "-- outside a transaction" consists of such statements, each ended by a semicolon at the end
// of a line. Each can be repeated after it was interrupted at any point.

const builtIndex = /\bcreate\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(\w+)/i

const pingMs = 10_000 // well below idle_in_transaction_session_timeout

// Returns false if another node has applied it. A second session holds the migration lock, because these statements have
// no transaction to hold it in. If that session is lost, two nodes may build at once; the table's own lock then makes one
// of them wait.
export async function applyOutsideTransaction(
  session: MigrationSession,
  db: MigratedDb,
  migration: Migration,
): Promise<boolean> {
  const lockHolder = await openMigrationSession(db)
  const ping = setInterval(() => void lockHolder.query('select 1').catch(() => {}), pingMs)
  try {
    await beginWithMigrationLock(lockHolder)
    if (await isApplied(session, migration)) return false
    // The server runs several statements of one query in a transaction, so each is sent separately.
    for (const statement of statementsOf(migration)) await runConcurrently(session, statement)
    await recordApplied(session, migration)
    return true
  } finally {
    clearInterval(ping)
    await lockHolder.close()
  }
}

// An interrupted or failed build leaves an invalid index, which serves no query and slows every write. It is dropped
// first, because `if not exists` would accept it. If another session is still building it, the drop fails on the table's
// lock and the migration is retried later.
async function runConcurrently(session: MigrationSession, text: string) {
  const index = builtIndex.exec(text)?.[1]
  await dropInvalid(session, index)
  await setLockTimeout(session, 0) // these statements block no others while they wait
  try {
    await session.query(text)
  } catch (error) {
    await setLockTimeout(session, lockTimeoutMs).catch(() => {})
    await dropInvalid(session, index).catch(() => {}) // otherwise the next start drops it
    throw error
  }
  await setLockTimeout(session, lockTimeoutMs)
  if (await isInvalid(session, index)) throw new MigrationLockBusy() // another session is still building it
}

// Behind a pooler it stays as the server has it: it would stay in a session that other programs use.
async function setLockTimeout(session: MigrationSession, ms: number) {
  if (!session.isPooled) await session.query(`set lock_timeout = ${ms}`)
}

// The session that builds it may complete it at this moment: PostgreSQL frees the lock of the table before it commits the
// change of the catalog, and refuses ours.
async function dropInvalid(session: MigrationSession, index: string | undefined) {
  if (!(await isInvalid(session, index))) return
  try {
    await session.query(`drop index concurrently if exists ${index}`)
  } catch (error) {
    if (error instanceof Error && /tuple concurrently (updated|deleted)/.test(error.message))
      throw new MigrationLockBusy('', { cause: error })
    throw error
  }
}

const isInvalid = async (session: MigrationSession, index: string | undefined) =>
  index !== undefined &&
  (await session.query('select from pg_index where indexrelid = to_regclass($1) and not indisvalid', [index]))
    .length > 0
