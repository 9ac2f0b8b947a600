import { setTimeout as sleep } from 'node:timers/promises'
import { Locked, Unavailable } from '../../core/interface/refusal.ts'
import { type Db, sql } from '../db.ts'
import { applyOutsideTransaction } from './concurrentIndexes.ts'
import { distributeTable, dropOldRows, findUndistributed } from './distribute.ts'
import { type Migration, pendingMigrations, readMigration, statementsOf } from './migrationList.ts'
import {
  beginWithMigrationLock,
  createMigrationsTable,
  isApplied,
  isConnectionLost,
  isLockConflict,
  MigrationLockBusy,
  type MigrationSession,
  openMigrationSession,
  recordApplied,
} from './migrationSession.ts'

const firstPauseMs = 200
const maxPauseMs = 5000
const maxLostConnections = 5 // per migration: it may be the migration that brings the server down
const firstReportMs = 5000
const reportEveryMs = 30_000
const firstBlockerCheckMs = 250 // before lockTimeoutMs has passed
const blockerCheckEveryMs = 5000

export type OnProgress = (text: string) => void // for the operator

export class MigrationFailed extends Error {}

const noBlockers = () => ''

type MigrateOptions = {
  folder?: URL
  until?: string // the last one to apply
  mayMoveRows?: boolean // tables with rows may be distributed, which blocks their writers for as long as it takes
  onProgress?: OnProgress
}

// Applies the pending migrations in order and returns their names. If none is pending, nothing is locked. Several nodes
// may call it at once: one applies, the others wait for it and find nothing pending. On a Citus cluster it then distributes
// the tables.
export async function migrate(
  db: Db,
  { folder, until, mayMoveRows = false, onProgress = () => {} }: MigrateOptions = {},
): Promise<string[]> {
  const readPending = () =>
    retryLocked(onProgress, noBlockers, async () =>
      (await pendingMigrations(db, folder)).filter(name => until === undefined || name <= until),
    )
  const applied: string[] = []
  let session: MigrationSession | undefined
  try {
    for (let [next] = await readPending(); next !== undefined; [next] = await readPending()) {
      const migration = readMigration(next, folder)
      let blockers: Blockers | undefined
      const blockerNames = () => blockers?.names() ?? ''
      const isNew = await retryLocked(onProgress, blockerNames, async () => {
        const opened = await reopen(session, db)
        session = opened
        blockers = watchBlockers(db, () => opened.pid)
        const applying = apply(opened, db, migration)
        return reportLongRun(onProgress, migration, blockerNames, applying).finally(blockers.stop)
      })
      if (isNew) applied.push(migration.name)
    }
    const { names, filled } = await retryLocked(onProgress, noBlockers, () => findUndistributed(db))
    const onSession = <T>(work: (opened: MigrationSession) => Promise<T>) =>
      retryLocked(onProgress, noBlockers, async () => {
        session = await reopen(session, db)
        return work(session)
      })
    if (filled.length > 0 && !mayMoveRows) onProgress(notDistributed(filled))
    else if (names.length > 0) await distribute(names, filled, onSession, onProgress)
  } finally {
    await session?.close()
  }
  return applied
}

type OnSession = <T>(work: (opened: MigrationSession) => Promise<T>) => Promise<T>

async function distribute(
  names: readonly string[],
  filled: readonly string[],
  onSession: OnSession,
  onProgress: OnProgress,
) {
  const done: string[] = []
  try {
    for (const name of names) {
      if (filled.includes(name)) onProgress(`Distributes the rows of ${name}.`)
      if (await onSession(session => distributeTable(session, name))) done.push(name)
    }
    if (filled.length > 0) await onSession(session => dropOldRows(session, filled))
  } catch (error) {
    if (isConnectionLost(error) || error instanceof Unavailable) throw error
    throw failureOfDistribution(names[done.length], error)
  }
  if (done.length > 0) onProgress(`Distributed to the workers of Citus: ${done.join(', ')}.`)
}

const failureOfDistribution = (name: string | undefined, error: unknown) =>
  new MigrationFailed(
    `Citus did not distribute ${name ?? 'the tables'}: ${error instanceof Error ? error.message : String(error)}. ` +
      'The tables before it are distributed; tollgate migrate continues with this one.',
    { cause: error },
  )

const notDistributed = (filled: readonly string[]) =>
  `The database has Citus and workers, but its tables are not distributed and have rows (${filled.join(', ')}). ` +
  'Stop all nodes and run: tollgate migrate'

async function reopen(session: MigrationSession | undefined, db: Db): Promise<MigrationSession> {
  if (session && !session.isClosed()) return session
  const opened = await openMigrationSession(db)
  try {
    await createMigrationsTable(opened)
    return opened
  } catch (error) {
    await opened.close()
    throw error
  }
}

// Returns false if another node has applied it.
async function apply(session: MigrationSession, db: Db, migration: Migration): Promise<boolean> {
  try {
    if (!migration.inTransaction) return await applyOutsideTransaction(session, db, migration)
    await beginWithMigrationLock(session)
    const isNew = !(await isApplied(session, migration))
    if (isNew) {
      if (session.isSharded) await applyToShards(session, migration)
      else await session.query(migration.text)
      await recordApplied(session, migration)
    }
    await session.query('commit')
    return isNew
  } catch (error) {
    await session.query('rollback').catch(() => {}) // a lost connection has rolled back already
    if (isConnectionLost(error) || isBusy(error)) throw error
    throw failureOfMigration(migration, error)
  }
}

// Citus sends the whole text of some statements to its workers, which refuse several at once. One connection to each worker
// does all the work: another one does not see what the first has changed.
async function applyToShards(session: MigrationSession, migration: Migration) {
  await session.query(`set local citus.multi_shard_modify_mode = 'sequential'`)
  for (const statement of statementsOf(migration)) await session.query(statement)
}

function failureOfMigration({ name, inTransaction }: Migration, error: unknown) {
  const rolledBack = inTransaction ? ' and was rolled back' : ''
  const message = error instanceof Error ? error.message : String(error)
  return new MigrationFailed(`The migration ${name} failed${rolledBack}: ${message}.`, { cause: error })
}

const isBusy = (error: unknown) =>
  error instanceof MigrationLockBusy || error instanceof Locked || isLockConflict(error)

// A session that waits for a table lock blocks all statements behind it, so each wait is short and is repeated after a
// pause that grows. After a lost connection the migrations table shows whether the work was committed.
async function retryLocked<T>(
  onProgress: OnProgress,
  blockerNames: () => string,
  work: () => Promise<T>,
): Promise<T> {
  const report = throttled(onProgress)
  for (let tries = 1, lost = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (isConnectionLost(error) && ++lost > maxLostConnections) throw new Unavailable(error)
      if (!isConnectionLost(error) && !isBusy(error)) throw error
      if (error instanceof MigrationLockBusy)
        report('Another node is migrating this database. Waiting for it.')
      else if (isBusy(error))
        report(
          `Migrating has to wait for a lock that ${blockerNames() || 'another session'} holds. Retrying.`,
        )
    }
    await sleep(Math.min(firstPauseMs * 2 ** (tries - 1), maxPauseMs))
  }
}

type Blockers = { names(): string; stop(): void }

// The sessions that block the server process `pid()`.
function watchBlockers(db: Db, pid: () => number): Blockers {
  let names = ''
  let timer = setTimeout(check, firstBlockerCheckMs)
  function check() {
    blockingSessions(db, pid()).then(
      blockers => (names = blockers),
      () => {}, // the report then names none
    )
    timer = setTimeout(check, blockerCheckEveryMs)
  }
  return { names: () => names, stop: () => clearTimeout(timer) }
}

async function blockingSessions(db: Db, pid: number): Promise<string> {
  const rows = await db.rows<{ session: string }>(sql`
    select format('process %s (%s, %s)', pid, coalesce(nullif(application_name, ''), 'without a name'), state) as session
    from pg_stat_activity where pid = any(pg_blocking_pids(${pid})) order by xact_start`)
  return rows.map(({ session }) => session).join(', ')
}

// Reports at once, then at most every half minute.
function throttled(onProgress: OnProgress): OnProgress {
  let reportedAt = Number.NEGATIVE_INFINITY
  return text => {
    if (performance.now() - reportedAt < reportEveryMs) return
    reportedAt = performance.now()
    onProgress(text)
  }
}

async function reportLongRun<T>(
  onProgress: OnProgress,
  { name }: Migration,
  blockerNames: () => string,
  work: Promise<T>,
): Promise<T> {
  const started = performance.now()
  const report = () => {
    const waits = blockerNames() ? ` and waits for ${blockerNames()}` : ''
    const seconds = Math.round((performance.now() - started) / 1000)
    onProgress(`The migration ${name} is running${waits}, for ${seconds} seconds now.`)
    timer = setTimeout(report, reportEveryMs)
  }
  let timer = setTimeout(report, firstReportMs)
  return work.finally(() => clearTimeout(timer))
}
