// What PostgreSQL, or the way to it, says when something does not work.
export const codeOf = (error: unknown) => (error as { code?: string } | undefined)?.code ?? ''

export const isSerialization = (error: unknown) => ['40001', '40P01'].includes(codeOf(error))

// Somebody else holds a row for longer than we wait.
export const isLocked = (error: unknown) => codeOf(error) === '55P03'

// Somebody else made it first: the row, the table (42P07) or the table's type (42710).
export const isAlreadyThere = (error: unknown) => ['23505', '42P07', '42710'].includes(codeOf(error))

// An earlier statement of the transaction has failed; the error of that one is the cause.
export const isInFailedTransaction = (error: unknown) => codeOf(error) === '25P02'

const lostCodes =
  /^(08|53|57|58|25006|25P0[123]|26000|42P05|ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOENT|EAI_|ENOTFOUND)/
const lostWords =
  /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable/i

// The server went away, is not ready, is no primary (25006), is out of disk, memory or connections (53, 58), ended a
// transaction that stood still (25P03), gave up on the statement (57) or never answered. Or the session is not in the state
// that we left it in: it has no transaction (25P01) or a failed one (25P02) without an error that we know of, or its
// prepared statements are those of another session (26000, 42P05), because a pooler has switched the server under us.
export function isLost(error: unknown) {
  const code = codeOf(error)
  if (lostCodes.test(code)) return true
  const message = error instanceof Error ? error.message : ''
  // Another node has changed a table under the plans of this connection.
  if (code === '0A000' && message.startsWith('cached plan')) return true
  return lostWords.test(message)
}
