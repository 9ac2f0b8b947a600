import {
  type DatabaseState,
  incompatibleIn,
  isUnreleased,
  missingIn,
  unknownIn,
} from '../../core/fitDatabase.ts'
import type { Tx } from '../../store/db.ts'
import { hasLivePayments } from '../../store/installation/copies.ts'
import { invalidIndexes, missingObjects, type RoleRights } from '../../store/soundness.ts'
import { allChecks, type Check, checkFailed, checkOk, checkWarning, firstFew } from './check.ts'

export function checkMigrations(state: DatabaseState, known: readonly string[]): Check {
  if (isUnreleased(state, known))
    return checkFailed(
      'migrations',
      'the database was made by an unreleased version of Tollgate, before 0.2.0',
      'Export what you need from it, and start with a new database.',
    )
  const unknown = unknownIn(state, known)
  const newer = `a newer Tollgate has changed the database: ${unknown.map(({ name }) => name).join(', ')}`
  if (incompatibleIn(state, known).length > 0)
    return checkFailed('migrations', newer, 'Start that version, or restore an older backup.')
  if (unknown.length > 0)
    return checkWarning('migrations', newer, 'This version can run beside that one: update this machine too.')
  const missing = missingIn(state, known)
  if (missing.length === 0) return checkOk('migrations', 'the database is up to date')
  const todo = 'Run tollgate migrate; tollgate start does it too.'
  return checkWarning('migrations', `${missing.length} to apply`, todo)
}

// Compared with what the migrations of this release make.
export async function checkSchema(tx: Tx): Promise<Check[]> {
  const missing = await missingObjects(tx)
  const invalid = await invalidIndexes(tx)
  return allChecks(
    missing.length > 0 &&
      checkFailed(
        'schema',
        `missing: ${firstFew(missing.map(({ object, migration }) => `${object} (${migration})`))}`,
        'Make it again as that file in src/store/migrations does, as the owner of the tables, or restore a backup.',
      ),
    invalid.length > 0 &&
      checkWarning(
        'schema',
        `not valid, because building it was interrupted: index ${firstFew(invalid)}`,
        `As the owner of the tables: reindex index concurrently ${invalid[0]}`,
      ),
    missing.length + invalid.length === 0 &&
      checkOk('schema', 'all tables, columns, indexes and triggers are there'),
  )
}

// Whether statements fail because of it, and not only become slow.
export const isBroken = (checks: readonly Check[]) => checks.some(({ state }) => state === 'failed')

// Whether the role has the rights that a gateway needs. Undefined if there are no tables yet.
export function checkRights(rights: RoleRights | undefined): Check | undefined {
  if (!rights) return undefined
  const { role, missing } = rights
  if (!rights.may_use_schema)
    return checkFailed('privileges', `the role ${role} may not use the schema of the tables`, runScript)
  if (missing.length > 0)
    return checkFailed(
      'privileges',
      `the role ${role} lacks ${firstFew(
        missing.map(one => `${one.rights} on ${one.table}`),
        '; ',
      )}`,
      runScript,
    )
  if (rights.is_superuser)
    return checkWarning(
      'privileges',
      `the role ${role} is a superuser, so a fault of the gateway could change everything on the server`,
      'Use an ordinary role in DATABASE_URL (docs/running.md, two roles).',
    )
  return checkOk('privileges', `the role ${role} has the rights that a gateway needs`)
}

const runScript =
  'As the owner of the tables, run deploy/postgresql/runtime-role.sql (docs/running.md, two roles).'

// With an external database and live payments, the role of the gateway should not be able to change what is booked.
export async function checkAppendOnly(tx: Tx, rights: RoleRights | undefined): Promise<Check | undefined> {
  if (!rights || rights.is_superuser) return undefined
  const { role, owned, changeable } = rights
  if (owned.length === 0 && changeable.length > 0)
    return checkWarning(
      'ledger',
      `the role ${role} may change or delete rows of ${firstFew(changeable)}`,
      'After each migration, run deploy/postgresql/runtime-role.sql (docs/running.md, two roles).',
    )
  if (owned.length === 0) return checkOk('ledger', `the role ${role} cannot change what is booked`)
  if (!(await hasLivePayments(tx))) return undefined
  return checkWarning(
    'ledger',
    `the role ${role} owns ${firstFew(owned)}, so it could change what is booked`,
    'Give the gateway a role that does not own the tables (docs/running.md, two roles).',
  )
}
