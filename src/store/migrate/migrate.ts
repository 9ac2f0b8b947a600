import { setTimeout as sleep } from 'node:timers/promises'
import { Locked, Unavailable } from '../../core/interface/refusal.ts'
import { type Db, sql } from '../db.ts'
import { applyOutsideTransaction } from './concurrentIndexes.ts'
import { type Migration, pendingMigrations, readMigration } from './migrationList.ts'
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
const firstBlockerCheckMs = 1000 // before lockTimeoutMs has passed
const blockerCheckEveryMs = 5000

export type OnProgress = (text: string) => void // for the operator

export class MigrationFailed extends Error {}

// Applies the pending migrations in order and returns their names. If none is pending, nothing is locked. Several nodes
// may call it at once: one applies, the others wait for it and find nothing pending.
export async function migrate(
  db: Db,
  { folder, onProgress = () => {} }: { folder?: URL; onProgress?: OnProgress } = {},
): Promise<string[]> {
  const readPending = () =>
    retryLocked(
      onProgress,
      () => '',
      () => pendingMigrations(db, folder),
    )
  const applied: string[] = []
  let session: MigrationSession | undefined
  try {
    for (let [next] = await readPending(); next !== undefined; [next] = await readPending()) {
      const migration = readMigration(next, folder)
      let blockers: Blockers | undefined
      const blockerNames = () => blockers?.names() ?? ''
      const isNew = await retryLocked(onProgress, blockerNames, async () => {
        session = await reopen(session, db.url)
        blockers = watchBlockers(db, session.pid)
        const applying = apply(session, db.url, migration)
        return reportLongRun(onProgress, migration, blockerNames, applying).finally(blockers.stop)
      })
      if (isNew) applied.push(migration.name)
    }
  } finally {
    await session?.close()
  }
  return applied
}

async function reopen(session: MigrationSession | undefined, url: string): Promise<MigrationSession> {
  if (session && !session.isClosed()) return session
  const opened = await openMigrationSession(url)
  try {
    await createMigrationsTable(opened)
    return opened
  } catch (error) {
    await opened.close()
    throw error
  }
}

// Returns false if another node has applied it.
async function apply(session: MigrationSession, url: string, migration: Migration): Promise<boolean> {
  try {
    if (!migration.inTransaction) return await applyOutsideTransaction(session, url, migration)
    await beginWithMigrationLock(session)
    const isNew = !(await isApplied(session, migration))
    if (isNew) {
      await session.query(migration.text)
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

// The sessions that block the server process `pid`.
function watchBlockers(db: Db, pid: number): Blockers {
  let names = ''
  let timer = setTimeout(check, firstBlockerCheckMs)
  function check() {
    blockingSessions(db, pid).then(
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
