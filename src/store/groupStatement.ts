import { createHash } from 'node:crypto'
import { join, raw } from 'sql-template-tag'
import { type Query, sql } from './db.ts'

// What one change writes to one table. The parts of many changes become the CTEs of one statement, so a part's name is
// unique in its statement. A part must not read a table that another part writes, except through the other part's name:
// in PostgreSQL no CTE sees the rows that another writes, and in Citus a later one does.
export type StatementPart = Query & { name: string }

export const statementPart =
  (name: string) =>
  (strings: TemplateStringsArray, ...values: unknown[]): StatementPart =>
    Object.assign(sql(strings, ...values), { name })

// One prepared statement for each combination of parts. It returns the rows of `result`.
export function groupStatement(parts: readonly StatementPart[], result: Query = sql`select`): Query {
  const ctes = parts.map(part => sql`${raw(part.name)} as (${part})`)
  const resultName = result.text === 'select' ? '' : (result.name ?? result.text)
  const name = nameOfStatement([...parts.map(part => part.name), resultName].join('+'))
  return Object.assign(sql`with ${join(ctes)} ${result}`, { name })
}

const longestName = 63 // PostgreSQL ignores the rest of a name, so two longer names may be the same statement to it
const shortNames = new Map<string, string>() // as many as there are combinations of parts

function nameOfStatement(combination: string): string {
  if (combination.length <= longestName) return combination
  const known = shortNames.get(combination)
  if (known) return known
  const digest = createHash('sha256').update(combination).digest('hex').slice(0, 24)
  const name = `${combination.slice(0, longestName - digest.length - 1)}~${digest}`
  shortNames.set(combination, name)
  return name
}

// A condition for every table that a statement with a list of keys reads. Citus does not evaluate lists of keys;
// with this condition it queries only the shards of these merchants. The collation does not change which ids are equal.
// It keeps the planner from using the list as an index condition: it would estimate one scan for each pair of merchant
// and key, and prefer to read the whole table.
export const ofMerchants = (table: string, keys: readonly { merchant_id: string }[]) =>
  sql`${sql([table])}.merchant_id collate "C" = any(${[...new Set(keys.map(key => key.merchant_id))]}::text[])`
