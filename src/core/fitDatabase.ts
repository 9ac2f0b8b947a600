// What a database says about itself, as far as payments depend on it.
export type DatabaseState = {
  version: string
  version_num: number
  read_only: boolean
  fsync: string
  synchronous_commit: string
  applied: readonly string[] // migrations, by name
}

const oldestVersion = 150_000

export const isTooOld = ({ version_num }: Pick<DatabaseState, 'version_num'>) => version_num < oldestVersion

// The migrations of this version, by name, each list in its order. A database begins with the `tables`, or has come to
// the same by the `former` steps from which they were folded; `changes` came after both.
export type Migrations = Readonly<Record<'former' | 'tables' | 'changes', readonly string[]>>

// One that took any of the former steps takes the rest of them, so that whatever was begun is never stranded. With all of
// them it has every table, and nothing is written down about that: nodes of the version before, which know no `tables`,
// go on beside us.
const wayOf = (applied: readonly string[], { former, tables, changes }: Migrations) => [
  ...(former.some(name => applied.includes(name)) ? former : tables),
  ...changes,
]

export const missingIn = ({ applied }: Pick<DatabaseState, 'applied'>, known: Migrations) =>
  wayOf(applied, known).filter(name => !applied.includes(name))

// Migrations of a version to come. What they have changed, this one does not know.
export function unknownIn({ applied }: Pick<DatabaseState, 'applied'>, known: Migrations): string[] {
  const names = Object.values(known).flat()
  return applied.filter(name => !names.includes(name))
}

// Why payments cannot be stored there now; undefined when they can.
export function whyNotStore(state: DatabaseState, known: Migrations): string | undefined {
  if (isTooOld(state)) return `the database is too old: PostgreSQL ${state.version}, and 15 is needed`
  const unknown = unknownIn(state, known)
  if (unknown.length > 0) return `the schema is newer than this Tollgate: ${unknown.join(', ')}`
  const missing = missingIn(state, known)
  if (missing.length > 0) return `migrations are missing: ${missing.join(', ')}`
  return state.read_only ? 'the database is read-only' : undefined
}

// Why nobody should begin with such a database, and what cures it. Undefined when it is sound.
export function whyNotBegin(state: DatabaseState, known: Migrations): string | undefined {
  if (isTooOld(state))
    return (
      `The database is PostgreSQL ${state.version} and Tollgate needs 15 or later: upgrade it, ` +
      'or name another in DATABASE_URL.'
    )
  const [first, ...more] = unknownIn(state, known)
  if (first)
    return (
      `The database was changed by a newer Tollgate (${first}${more.length > 0 ? ` and ${more.length} more` : ''}): ` +
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
