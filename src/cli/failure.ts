import { CommanderError } from 'commander'
import { ConfigError } from '../config.ts'
import { Unavailable } from '../core/interface/refusal.ts'
import { codeOf, EmbeddedError } from '../postgres/error.ts'
import { MissingMasterKey, UnfitDatabase } from '../start/database.ts'
import { MasterKeyError } from '../start/masterKeys.ts'
import { PrivilegeError } from '../start/privileges.ts'
import { MigrationFailed } from '../store/migrate/migrate.ts'
import { databaseTrouble } from './databaseTrouble.ts'
import { exitCodes } from './exitCodes.ts'
import { fileTrouble, listenTrouble } from './systemTrouble.ts'

// Why a command did not do what it was asked: one sentence, and every fault when there are several.
export type Failure = {
  exit: number
  code: string
  message: string
  faults: string[]
  shown?: string // more for people
  data?: Record<string, unknown> // the same for programs
  stack?: string // bugs only
}

type More = Partial<Pick<Failure, 'faults' | 'shown' | 'data'>>

// What the operator asked cannot be done. Thrown by commands, and the only error they make themselves.
export class CannotDo extends Error {
  readonly code: string
  readonly more: More
  constructor(code: 'not_found' | 'refused' | 'ambiguous', message: string, more: More = {}) {
    super(message)
    this.code = code
    this.more = more
  }
}

type Kind = Exclude<keyof typeof exitCodes, 'done' | 'forced'>

const failure = (kind: Kind, message: string, faults: string[] = []): Failure => ({
  exit: exitCodes[kind],
  code: kind,
  message,
  faults,
})

export function failureOf(error: unknown): Failure {
  if (error instanceof CannotDo)
    return { ...failure('refused', error.message), code: error.code, ...error.more }
  if (error instanceof CommanderError) return failure('usage', usageSentence(error.message))
  if (error instanceof ConfigError)
    return failure('settings', 'These settings must be put right first.', error.faults)
  if (error instanceof MasterKeyError || error instanceof MissingMasterKey)
    return failure('settings', error.message)
  const trouble = troubleOf(error)
  if (trouble) return failure('unavailable', trouble)
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  return { ...failure('bug', `This is a bug in Tollgate: ${message}`), stack }
}

// What the outside world refuses us, in one sentence; undefined when it is not to blame.
function troubleOf(error: unknown): string | undefined {
  if ([EmbeddedError, MigrationFailed, PrivilegeError, UnfitDatabase].some(kind => error instanceof kind))
    return (error as Error).message
  if (error instanceof Unavailable) return databaseTrouble(error.cause)
  return (
    listenTrouble(error) ??
    fileTrouble(error) ??
    (isDatabaseRefusal(error) ? databaseTrouble(error) : undefined)
  )
}

// Who may come in, and how. A statement that the database does not understand is our bug.
const isDatabaseRefusal = (error: unknown) =>
  /^(28|3D|42501|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|CERT_|ERR_TLS|ERR_SSL)/.test(codeOf(error)) ||
  /does not support SSL|SASL/.test(String(error))

// "error: unknown option '--foo'\n(Did you mean --for?)"
function usageSentence(message: string): string {
  const text = message.replace(/^error: /, '').replace(/\n\((.*)\)$/, '. $1')
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.?]$/.test(text) ? '' : '.'}`
}
