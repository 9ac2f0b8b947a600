import { Locked, ShardUnavailable, Unavailable } from '../core/interface/refusal.ts'

// Errors of PostgreSQL (SQLSTATE) and of the connection to it.
export function sqlState(error: unknown): string {
  const { code = '', message = '' } = (error as { code?: string; message?: string } | undefined) ?? {}
  return code === 'XX000' ? (copyErrors.find(([text]) => text.test(message))?.[1] ?? code) : code
}

// For many rows at once Citus copies them to its workers, and reports an error of a copy with the text of the worker and
// without its code. These texts are English, as Citus is: lc_messages of the workers has to be.
const copyErrors: readonly (readonly [RegExp, string])[] = [
  [/^duplicate key value violates unique constraint /, '23505'],
  [/^new row for relation .* violates check constraint /, '23514'],
  [/ violates foreign key constraint /, '23503'],
  [/ violates not-null constraint$/, '23502'],
  [/^canceling statement due to lock timeout$/, '55P03'],
  [/^canceling statement due to statement timeout$/, '57014'],
  [/^deadlock detected$/, '40P01'],
]

export const isSerialization = (error: unknown) => ['40001', '40P01'].includes(sqlState(error))

// A sharded database refuses the statement.
export const isUnsupported = (error: unknown) => sqlState(error) === '0A000'

// The lock_timeout has passed.
export const isLocked = (error: unknown) => sqlState(error) === '55P03'

// The statement_timeout has passed, or an operator has cancelled the statement.
export const isCancelled = (error: unknown) => sqlState(error) === '57014'

// Another transaction has created it first: the row, the table (42P07) or the table's type (42710).
export const isAlreadyThere = (error: unknown) => ['23505', '42P07', '42710'].includes(sqlState(error))

// An earlier statement of the transaction has failed. The error of that one is the cause.
export const isInFailedTransaction = (error: unknown) => sqlState(error) === '25P02'

const lostCodes =
  /^(08|53|57|58|25006|25P0[123]|26000|42P05|ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOENT|EAI_|ENOTFOUND)/
const lostMessages =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable/i

// Whether the connection cannot be used any more, and the work can be retried on another one:
// - The server is gone or not ready, is no primary (25006), is out of disk, memory or connections (53, 58), has ended an
//   idle transaction (25P03), has cancelled the statement (57), or did not answer in time.
// - The session is not in the state that this program left it in, because a pooler has switched the server: it has no
//   transaction (25P01), it has a failed one without an error that we have seen (25P02), or its prepared statements are
//   those of another session (26000, 42P05).
export function isLost(error: unknown) {
  if (isShardLost(error)) return false
  const code = sqlState(error)
  if (lostCodes.test(code)) return true
  const message = error instanceof Error ? error.message : ''
  // Another node has changed a table for which this connection has cached plans.
  if (code === '0A000' && message.startsWith('cached plan')) return true
  return lostMessages.test(message)
}

// A worker of a sharded database is gone, or starts. The coordinator reports it as the error of a statement, and its own end
// as a fatal error or not at all. The connection to the coordinator can be used.
export function isShardLost(error: unknown) {
  const {
    severity,
    message = '',
    where = '',
  } = (error as { severity?: string; message?: string; where?: string } | undefined) ?? {}
  if (severity !== 'ERROR') return false
  const code = sqlState(error)
  if (code.startsWith('57P0')) return where.includes('while executing command on ')
  return code.startsWith('0800') || lostWorkerMessages.test(message)
}

const lostWorkerMessages =
  /^(failure on connection marked as essential|failed to (COPY to shard|complete COPY on) |server closed the connection unexpectedly|no connection to the server|could not (receive|send) data)/

// The database cannot be used now, so other statements would fail, too. A row that stays locked, and a lost shard, are other
// cases.
export const isUnavailable = (error: unknown): error is Unavailable =>
  error instanceof Unavailable && !(error instanceof Locked) && !(error instanceof ShardUnavailable)

// If it happens during a commit, the outcome of the commit is unknown.
export const isOutcomeUnknown = (error: unknown) => error instanceof Unavailable && !(error instanceof Locked)

// The data itself cannot be stored: a wrong value (22) or a broken constraint (23).
export const isInvalidData = (error: unknown) => /^2[23]/.test(sqlState(error))
