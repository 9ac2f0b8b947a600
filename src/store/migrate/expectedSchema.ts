import { migrationNames, readMigration } from './migrationList.ts'

// What the migrations of this release make, read from their text: "table payments", "column payments.total", "primary key of
// payments", "index payments_due", "trigger transfers_append_only", "function refuse_ledger_change". A test compares it with
// the catalog of a new database.
export type SchemaObject = { object: string; migration: string }

export function expectedSchema(folder?: URL): SchemaObject[] {
  const objects = new Map<string, SchemaObject>()
  for (const migration of migrationNames(folder)) {
    const text = readMigration(migration, folder).text.replace(/--.*$/gm, '')
    for (const object of madeIn(text)) objects.set(object, { object, migration })
    for (const object of droppedIn(text)) objects.delete(object)
  }
  return [...objects.values()]
}

const kinds = [
  ['index', /\bcreate (?:unique )?index (?:concurrently )?(?:if not exists )?(\w+)/g],
  ['trigger', /\bcreate trigger (\w+)/g],
  ['function', /\bcreate (?:or replace )?function (\w+)/g],
] as const

const madeIn = (text: string): string[] => [
  ...[...text.matchAll(/\bcreate table (\w+) \(/g)].flatMap(found =>
    tableObjects(found[1] ?? '', bodyAt(text, found.index + found[0].length)),
  ),
  ...[...text.matchAll(/\balter table (\w+)([^;]*)/g)].flatMap(([, table, changes = '']) =>
    [...changes.matchAll(/\badd column (?:if not exists )?(\w+)/g)].map(
      ([, column]) => `column ${table}.${column}`,
    ),
  ),
  ...kinds.flatMap(([kind, pattern]) => [...text.matchAll(pattern)].map(([, name]) => `${kind} ${name}`)),
]

const droppedIn = (text: string): string[] => [
  ...[...text.matchAll(/\bdrop index (?:concurrently )?(?:if exists )?(\w+)/g)].map(
    ([, name]) => `index ${name}`,
  ),
  ...[...text.matchAll(/\balter table (\w+)([^;]*)/g)].flatMap(([, table, changes = '']) =>
    [...changes.matchAll(/\bdrop column (?:if exists )?(\w+)/g)].map(
      ([, column]) => `column ${table}.${column}`,
    ),
  ),
]

function tableObjects(table: string, body: string): string[] {
  const items = splitAtCommas(body).map(item => item.trim())
  const columns = items.filter(
    item => !/^(primary key|unique|check|foreign key|constraint|exclude)\b/.test(item),
  )
  return [
    `table ${table}`,
    ...columns.map(item => `column ${table}.${/^\w+/.exec(item)?.[0]}`),
    ...(/\bprimary key\b/.test(body) ? [`primary key of ${table}`] : []),
  ]
}

// From behind an opening bracket to the one that closes it.
function bodyAt(text: string, start: number): string {
  let depth = 1
  for (let at = start; at < text.length; at++) {
    if (text[at] === '(') depth++
    if (text[at] === ')' && --depth === 0) return text.slice(start, at)
  }
  return text.slice(start)
}

// Commas inside of brackets do not count.
function splitAtCommas(body: string): string[] {
  const items = ['']
  let depth = 0
  for (const char of body) {
    if (char === '(') depth++
    if (char === ')') depth--
    if (char === ',' && depth === 0) items.push('')
    else items[items.length - 1] += char
  }
  return items
}
