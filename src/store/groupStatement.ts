import { join, raw } from 'sql-template-tag'
import { type Query, sql } from './db.ts'

// What is written of one change, table by table. Its name is its own in a statement of several: no part reads a table
// that another writes, but by the other's name, because PostgreSQL shows no part what the others do, and a sharded one
// shows each what those before it did.
export type StatementPart = Query & { name: string }

export const statementPart =
  (name: string) =>
  (strings: TemplateStringsArray, ...values: unknown[]): StatementPart =>
    Object.assign(sql(strings, ...values), { name })

// One statement, which is parsed and planned once per connection for each choice of parts.
export function groupStatement(parts: readonly StatementPart[], answer: Query = sql`select`): Query {
  const named = parts.map(one => sql`${raw(one.name)} as (${one})`)
  const asked = answer.text === 'select' ? '' : (answer.name ?? answer.text)
  const name = [...parts.map(one => one.name), asked].join('+')
  return Object.assign(sql`with ${join(named)} ${answer}`, { name })
}
