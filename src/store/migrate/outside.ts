import { type Alone, connectAlone, lockTimeoutMs } from './connection.ts'
import type { Migration } from './ledger.ts'
import { beginAlone, isApplied, LedgerBusy, noteApplied } from './lock.ts'

// Some changes must not run in a transaction: `create index concurrently` builds while others write, and `drop index
// concurrently` waits for nobody who would hold up the others. A file whose first line says so has such statements, each
// ended by a semicolon at the end of a line. They let others read and write meanwhile and may all run again, wherever
// they were cut off.
export const isOutside = ({ text }: Migration) => /^-- outside a transaction\b/i.test(text)

// A server that is given several at once would run them in a transaction.
const statementsOf = ({ text }: Migration) => text.split(/;[ \t]*$/m).filter(part => /^\s*[^\s-]/m.test(part))

const builtIndex = /\bcreate\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(\w+)/i

const pingMs = 10_000 // well within the time that a transaction may stand still

// A second connection holds the lock, because the statement has no transaction to hold it in. That lock spares work; it
// is no proof: should it be lost, two may build at once, and the table's own lock lets one of them wait.
export async function applyOutside(connection: Alone, url: string, migration: Migration): Promise<boolean> {
  const guard = await connectAlone(url)
  const ping = setInterval(() => void guard.ask('select 1').catch(() => {}), pingMs)
  try {
    await beginAlone(guard)
    if (await isApplied(connection, migration.name)) return false
    for (const statement of statementsOf(migration)) await build(connection, statement)
    await noteApplied(connection, migration.name)
    return true
  } finally {
    clearInterval(ping)
    await guard.end()
  }
}

// Whoever was cut off while building, or built in vain, has left an index that is of no use and costs every write. It
// goes first: `if not exists` would take it for the index. One that somebody is still building is not ours to drop: its
// table is locked, so we give up and look again later.
async function build(connection: Alone, text: string) {
  const index = builtIndex.exec(text)?.[1]
  await dropInvalid(connection, index)
  await connection.ask('set lock_timeout = 0') // whoever waits here holds up nobody
  try {
    await connection.ask(text)
  } catch (error) {
    await connection.ask(`set lock_timeout = ${lockTimeoutMs}`).catch(() => {})
    await dropInvalid(connection, index).catch(() => {}) // else found by the next start
    throw error
  }
  await connection.ask(`set lock_timeout = ${lockTimeoutMs}`)
  if (await isInvalid(connection, index)) throw new LedgerBusy() // somebody else is still building it
}

async function dropInvalid(connection: Alone, index: string | undefined) {
  if (await isInvalid(connection, index)) await connection.ask(`drop index concurrently if exists ${index}`)
}

const isInvalid = async (connection: Alone, index: string | undefined) =>
  index !== undefined &&
  (
    await connection.ask('select from pg_index where indexrelid = to_regclass($1) and not indisvalid', [
      index,
    ])
  ).length > 0
