// Whether a database is fit for payments: its server, its settings, and the migrations applied to it compared with those
// of this release.

type AppliedMigration = {
  name: string
  compatible: boolean // nodes of the release before it may run beside it
  served: boolean // a node that has it has been ready
}

export type DatabaseState = {
  version: string
  version_num: number
  read_only: boolean
  fsync: string
  synchronous_commit: string
  applied: readonly AppliedMigration[] // by name
  unreleased: boolean // it has tables that no release made
}

const oldestVersion = 150_000

export const isTooOld = ({ version_num }: Pick<DatabaseState, 'version_num'>) => version_num < oldestVersion

type Applied = Pick<DatabaseState, 'applied'>

// `known`: the names of the migrations of this release, in their order.
export function missingIn({ applied }: Applied, known: readonly string[]): string[] {
  const names = new Set(applied.map(({ name }) => name))
  return known.filter(name => !names.has(name))
}

export const unknownIn = ({ applied }: Applied, known: readonly string[]): AppliedMigration[] =>
  applied.filter(({ name }) => !known.includes(name))

// Releases only add migrations, with ascending numbers. So an unknown migration between known ones was in no release.
export const isUnreleased = (
  state: Pick<DatabaseState, 'applied' | 'unreleased'>,
  known: readonly string[],
): boolean => state.unreleased || unknownIn(state, known).some(({ name }) => name < (known.at(-1) ?? ''))

// Migrations of a later release beside which this one may not run.
export const incompatibleIn = (state: Applied, known: readonly string[]) =>
  unknownIn(state, known).filter(({ compatible }) => !compatible)

// Why payments cannot be stored in it now; undefined if they can. After a later release has migrated the database, this
// node stays ready, so that there is always a ready node. It stops being ready when a node of that release is, unless
// the migrations are compatible.
export function whyNotStore(state: DatabaseState, known: readonly string[]): string | undefined {
  if (isTooOld(state)) return `the database is too old: PostgreSQL ${state.version}, and 15 is needed`
  if (isUnreleased(state, known)) return 'the database was made by an unreleased version of Tollgate'
  const incompatible = incompatibleIn(state, known)
  if (incompatible.some(({ served }) => served))
    return `the schema is newer than this Tollgate: ${incompatible.map(({ name }) => name).join(', ')}`
  const missing = missingIn(state, known)
  if (missing.length > 0) return `migrations are missing: ${missing.join(', ')}`
  return state.read_only ? 'the database is read-only' : undefined
}

// Why a gateway or a command must not start on it, and what to do; undefined if it may.
export function whyNotStartOn(state: DatabaseState, known: readonly string[]): string | undefined {
  if (isTooOld(state))
    return (
      `The database is PostgreSQL ${state.version} and Tollgate needs 15 or later: upgrade it, ` +
      'or name another in DATABASE_URL.'
    )
  if (isUnreleased(state, known))
    return (
      'The database was made by an unreleased version of Tollgate, before 0.2.0: ' +
      'export what you need from it, and start with a new database.'
    )
  const [first, ...more] = incompatibleIn(state, known)
  if (first)
    return (
      `The database was changed by a newer Tollgate (${first.name}${more.length > 0 ? ` and ${more.length} more` : ''}): ` +
      'start that version, or restore a backup from before.'
    )
  return undefined
}

export function whyNotDurable(
  state: Pick<DatabaseState, 'fsync' | 'synchronous_commit'>,
): string | undefined {
  const off = (['fsync', 'synchronous_commit'] as const).filter(name => state[name] === 'off')
  if (off.length === 0) return undefined
  return (
    `The database has ${off.join(' and ')} off, so a power cut could lose payments that merchants believe stored: ` +
    `set ${off.length > 1 ? 'both' : 'it'} to on in the database.`
  )
}
