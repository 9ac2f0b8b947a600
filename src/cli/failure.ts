import { CommanderError } from 'commander'
import { ConfigError } from '../config.ts'
import { BackupFault } from '../core/backup/fault.ts'
import { NotOriginal, Unavailable } from '../core/interface/refusal.ts'
import { capitalized, codeOf, EmbeddedError, explain } from '../postgres/error.ts'
import { MissingMasterKey, UnfitDatabase } from '../start/database.ts'
import { MasterKeyError } from '../start/masterKeys.ts'
import { PrivilegeError } from '../start/privileges.ts'
import { OtherVersion } from '../start/processGroup.ts'
import { poolerWithoutStatements } from '../store/connections/pooler.ts'
import { MigrationFailed } from '../store/migrate/migrate.ts'

// Numbers from 64 up are those of sysexits.h.
export const exitCodes = {
  done: 0,
  refused: 1,
  usage: 2,
  unavailable: 69,
  bug: 70,
  settings: 78,
  forced: 130,
} as const

export const exitCodeMeanings: [number, string][] = [
  [exitCodes.done, 'done'],
  [
    exitCodes.refused,
    'refused or not found; for doctor: a check failed; for provider status: an account is down or its credentials are refused',
  ],
  [exitCodes.usage, 'wrong usage'],
  [exitCodes.unavailable, 'the database, the data folder or the port cannot be used'],
  [exitCodes.bug, 'a bug in Tollgate'],
  [exitCodes.settings, 'a setting or the master key is wrong'],
  [exitCodes.forced, 'stopped at once by a second Ctrl-C'],
]

// Why a command failed: one sentence, and every fault if there are several.
export type Failure = {
  exit: number
  code: string
  message: string
  faults: string[]
  shown?: string // more text, for people
  data?: Record<string, unknown> // the same for programs
  stack?: string // bugs only
}

type Details = Partial<Pick<Failure, 'faults' | 'shown' | 'data'>>

// The command cannot do what the operator asked for. The only error that commands throw themselves.
export class CommandError extends Error {
  readonly code: string
  readonly details: Details
  constructor(code: 'not_found' | 'refused' | 'ambiguous', message: string, details: Details = {}) {
    super(message)
    this.code = code
    this.details = details
  }
}

export const refused = (message: string, details?: Details) => new CommandError('refused', message, details)
export const notFound = (message: string) => new CommandError('not_found', message)

type Kind = Exclude<keyof typeof exitCodes, 'done' | 'forced'>

const failure = (kind: Kind, message: string, faults: string[] = []): Failure => ({
  exit: exitCodes[kind],
  code: kind,
  message,
  faults,
})

export function failureOf(error: unknown): Failure {
  if (error instanceof CommandError)
    return { ...failure('refused', error.message), code: error.code, ...error.details }
  if (error instanceof BackupFault) return failure('refused', error.message)
  if (error instanceof CommanderError) return failure('usage', usageSentence(error.message))
  if (error instanceof ConfigError) return failure('settings', 'Correct these settings first.', error.faults)
  if (error instanceof MasterKeyError || error instanceof MissingMasterKey)
    return failure('settings', error.message)
  if (error instanceof NotOriginal) return failure('refused', error.message)
  const cause = environmentError(error)
  if (cause) return failure('unavailable', cause)
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  return { ...failure('bug', `This is a bug in Tollgate: ${message}`), stack }
}

// After an uncaught error or rejection the state of the process is unknown: it is reported in full and the process exits.
// A later call replaces the reporter.
export function exitOnBug(report: (error: unknown) => void) {
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', error => {
    report(error)
    process.exit(exitCodes.bug)
  })
}

// "error: unknown option '--foo'\n(Did you mean --for?)"
function usageSentence(message: string): string {
  const text = message.replace(/^error: /, '').replace(/\n\((.*)\)$/, '. $1')
  return `${capitalized(text)}${/[.?]$/.test(text) ? '' : '.'}`
}

// What the database, the file system or the network refused, in one sentence. Undefined if none of them is the cause.
function environmentError(error: unknown): string | undefined {
  if (
    [EmbeddedError, MigrationFailed, OtherVersion, PrivilegeError, UnfitDatabase].some(
      kind => error instanceof kind,
    )
  )
    return (error as Error).message
  if (error instanceof Unavailable) return databaseError(error.cause)
  if (isSystemError(error)) return listenError(error) ?? fileError(error) ?? connectionError(error)
  return connectionError(error)
}

type SystemError = NodeJS.ErrnoException & { address?: string; port?: number; hostname?: string }

const isSystemError = (error: unknown): error is SystemError => error instanceof Error && 'syscall' in error

function listenError({ code, syscall, address, port, hostname }: SystemError): string | undefined {
  if (syscall === 'getaddrinfo') return `HOST: ${hostname} is not an address of this machine.`
  if (syscall !== 'listen' && syscall !== 'bind') return undefined // the latter with TOLLGATE_PROCESSES
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${address} is already in use: stop the program that uses it, or set PORT to another.`
  if (code === 'EACCES')
    return `This user may not listen on port ${port}: set PORT to 1024 or higher, or allow it.`
  return `HOST: ${address} is not an address of this machine.`
}

const fileCodes = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENOTDIR', 'EISDIR', 'EEXIST'])

function fileError(error: SystemError): string | undefined {
  if (!error.path || !fileCodes.has(error.code ?? '')) return undefined
  return explain(error, error.path).message
}

// Authentication, permission and TLS errors only. An invalid statement is a bug in Tollgate.
const connectionError = (error: unknown) =>
  /^(28|3D|42501|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_|ERR_TLS|ERR_SSL)/.test(codeOf(error)) ||
  /does not support SSL|SASL/.test(String(error))
    ? databaseError(error)
    : undefined

function databaseError(error: unknown): string {
  const message = messageOf(error)
  const code = codeOf(error)
  if (code.startsWith('28') || message.startsWith('SASL'))
    return `The database refused the login (${message}): correct the user or password in DATABASE_URL.`
  if (code === '3D000') return `${capitalized(message)}: create it (createdb), or correct DATABASE_URL.`
  if (code === '42501')
    return `The database user lacks a privilege (${message}): grant it, or use another user in DATABASE_URL.`
  if (code === '25006' && message.includes('read-only'))
    return `The database is read-only (${message}): allow writes (default_transaction_read_only = off).`
  if (code === '25006') return 'The database is a standby: set DATABASE_URL to the primary.'
  if (code === '26000' || code === '42P05')
    return `The database lost a prepared statement (${message}). ${poolerWithoutStatements.todo}`
  if (code === '55P03')
    return 'Another session holds a lock that this command needs: try again, or look for it in pg_stat_activity.'
  if (code.startsWith('53'))
    return `The database is out of resources (${message}): give it more disk, memory or connections.`
  if (/CERT|SELF_SIGNED|UNABLE_TO|TLS|SSL/i.test(`${code} ${message}`))
    return `No secure connection to the database (${message}): correct sslmode or the certificates in DATABASE_URL.`
  return `The database cannot be reached (${message}): check that it is running and that DATABASE_URL is correct.`
}

// Node tries every address of a host name; the error of all of them together has no message.
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0])
  return error instanceof Error ? error.message : String(error)
}
