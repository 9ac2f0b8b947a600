import { codeOf } from '../postgres/error.ts'

// What a database that cannot be used said, with the cure.
export function databaseTrouble(error: unknown): string {
  const said = saidBy(error)
  const code = codeOf(error)
  if (code.startsWith('28') || said.startsWith('SASL'))
    return `The database turned us away (${said}): correct the user or password in DATABASE_URL.`
  if (code === '3D000') return `${sentence(said)}: create it (createdb), or correct DATABASE_URL.`
  if (code === '42501') return `The database user lacks a right (${said}): grant it, or name another user.`
  if (code === '25006' && said.includes('read-only'))
    return `The database is read-only (${said}): let it take writes (default_transaction_read_only = off).`
  if (code === '25006') return 'The database is a standby: name the primary in DATABASE_URL.'
  if (code === '55P03')
    return 'Somebody else holds what this needs in the database: try again, or see who does (pg_stat_activity).'
  if (code.startsWith('53'))
    return `The database has run out of something (${said}): give it more room or connections.`
  if (/CERT|SELF_SIGNED|UNABLE_TO|TLS|SSL/i.test(`${code} ${said}`))
    return `No safe connection to the database (${said}): correct sslmode or the certificates in DATABASE_URL.`
  return `The database cannot be reached (${said}): see that it runs and that DATABASE_URL names it.`
}

// Node tries every address of a name, and then its error has no message of its own.
function saidBy(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return saidBy(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}

const sentence = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
