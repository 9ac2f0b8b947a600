import { setTimeout as sleep } from 'node:timers/promises'
import { Locked, Unavailable } from '../../core/interface/refusal.ts'
import { isAlreadyThere } from '../databaseErrors.ts'
import type { Db } from '../db.ts'
import { type Alone, connectAlone, isGone, isLockedOut } from './connection.ts'
import { type Holders, watchHolders } from './holders.ts'
import { type Migration, pendingMigrations, readMigration } from './ledger.ts'
import { beginAlone, isApplied, LedgerBusy, noteApplied } from './lock.ts'
import { applyOutside, isOutside } from './outside.ts'
import { nowAndThen, sayingSo, type Tell } from './words.ts'

const firstPauseMs = 200
const maxPauseMs = 5000
const maxCuts = 5 // of the connection during one migration: perhaps it is the migration that brings the server down

export type MigrateOptions = { folder?: URL; tell?: Tell }

export class MigrationFailed extends Error {}

// Applies what is missing, in order, and gives back the names. Where nothing is missing, nothing is locked. Several
// nodes may do this at once: one applies, the others wait until it has, and find nothing left to do.
export async function migrate(db: Db, { folder, tell = () => {} }: MigrateOptions = {}): Promise<string[]> {
  const look = () =>
    untilFree(
      tell,
      () => someoneElse,
      () => pendingMigrations(db, folder),
    )
  const applied: string[] = []
  let pending = await look()
  let connection: Alone | undefined
  try {
    while (pending[0]) {
      const migration = readMigration(pending[0], folder)
      let holders: Holders | undefined
      const isNew = await untilFree(
        tell,
        () => holders?.words() || someoneElse,
        async () => {
          connection = await openLedger(connection, db.url)
          holders = watchHolders(db, connection.pid)
          const said = () => `The migration ${migration.name} is running${waitsFor(holders)}`
          return sayingSo(tell, said, apply(connection, db.url, migration)).finally(holders.stop)
        },
      )
      if (isNew) applied.push(migration.name)
      pending = await look() // another node may have done more than this one, or go another way
    }
  } finally {
    await connection?.end()
  }
  return applied
}

const someoneElse = 'somebody else'
const waitsFor = (holders?: Holders) => (holders?.words() ? ` and waits for ${holders.words()}` : '')

// The same connection as long as it lives.
async function openLedger(former: Alone | undefined, url: string): Promise<Alone> {
  if (former && !former.isOver()) return former
  const connection = await connectAlone(url)
  try {
    await connection.ask(
      'create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())',
    )
  } catch (error) {
    // Two nodes that make the table in the same moment collide all the same; then it is there.
    if (isAlreadyThere(error)) return connection
    await connection.end()
    throw error
  }
  return connection
}

// False when another node was quicker.
async function apply(connection: Alone, url: string, migration: Migration): Promise<boolean> {
  try {
    if (isOutside(migration)) return await applyOutside(connection, url, migration)
    await beginAlone(connection)
    const isNew = !(await isApplied(connection, migration.name))
    if (isNew) {
      await connection.ask(migration.text)
      await noteApplied(connection, migration.name)
    }
    await connection.ask('commit')
    return isNew
  } catch (error) {
    await connection.ask('rollback').catch(() => {}) // of a connection that is gone, nothing is left
    if (isGone(error) || isBusy(error)) throw error
    throw failed(migration, error)
  }
}

function failed(migration: Migration, error: unknown) {
  const kept = isOutside(migration) ? '' : ', and nothing of it was kept'
  const said = error instanceof Error ? error.message : String(error)
  return new MigrationFailed(`The migration ${migration.name} failed${kept}: ${said}.`, { cause: error })
}

const isBusy = (error: unknown) =>
  error instanceof LedgerBusy || error instanceof Locked || isLockedOut(error)

// Whoever waits for a lock on a table holds up all who come after, so nobody waits for long: it is tried again, with
// pauses that grow. Work that was cut off may have been done or not; the ledger tells the next try.
async function untilFree<T>(tell: Tell, holder: () => string, work: () => Promise<T>): Promise<T> {
  const say = nowAndThen(tell)
  for (let tries = 1, cuts = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (isGone(error) && ++cuts > maxCuts) throw new Unavailable(error)
      if (!isGone(error) && !isBusy(error)) throw error
      if (error instanceof LedgerBusy) say('Another node is migrating this database. We wait for it.')
      else if (isBusy(error)) say(`Migrating has to wait for a lock that ${holder()} holds. We try again.`)
    }
    await sleep(Math.min(firstPauseMs * 2 ** (tries - 1), maxPauseMs))
  }
}
