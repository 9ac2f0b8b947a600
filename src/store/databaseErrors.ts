import { Locked, Unavailable } from '../core/interface/refusal.ts'

// Errors of PostgreSQL (SQLSTATE) and of the connection to it.
export const sqlState = (error: unknown) => (error as { code?: string } | undefined)?.code ?? ''

export const isSerialization = (error: unknown) => ['40001', '40P01'].includes(sqlState(error))

// The lock_timeout has passed.
export const isLocked = (error: unknown) => sqlState(error) === '55P03'

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
  const code = sqlState(error)
  if (lostCodes.test(code)) return true
  const message = error instanceof Error ? error.message : ''
  // Another node has changed a table for which this connection has cached plans.
  if (code === '0A000' && message.startsWith('cached plan')) return true
  return lostMessages.test(message)
}

// The database cannot be used now, so other statements would fail, too. If it happens during a commit, the outcome of the
// commit is unknown. A row that stays locked is another case.
export const isUnavailable = (error: unknown): error is Unavailable =>
  error instanceof Unavailable && !(error instanceof Locked)
