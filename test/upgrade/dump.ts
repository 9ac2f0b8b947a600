import { Client } from 'pg'
import { readMigration } from '../../src/store/migrate/migrationList.ts'

// The first line of a fixture, as JSON in a comment.
export type FixtureHeader = {
  version: string // the release that made the database
  commit: string
  made_at: string
  master_key: string // in hexadecimal; seals the secrets of the fixture only
}

type Table = { name: string; columns: string[]; key: string }

// A whole database as plain SQL: the statements that made its tables, then one insert per row, ordered by primary key.
export async function dumpDatabase(url: string, header: FixtureHeader): Promise<string> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`set timezone = 'UTC'`)
    const lines = [`-- ${JSON.stringify(header)}`, '', ...(await schemaOf(client))]
    for (const table of await tablesOf(client)) lines.push('', ...(await insertsOf(client, table)))
    return `${lines.join('\n')}\n`
  } finally {
    await client.end()
  }
}

export const readHeader = (sql: string): FixtureHeader =>
  JSON.parse(sql.slice('-- '.length, sql.indexOf('\n'))) as FixtureHeader

// The migrations as they are at the time of the dump: a released file that is edited later differs from the fixture.
async function schemaOf(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('select name from migrations order by name')
  return [
    `create table migrations (
  name text primary key,
  applied_at timestamptz not null default now(),
  compatible boolean not null default false,
  served_at timestamptz
);`,
    ...rows.map(({ name }) =>
      readMigration(name)
        .text.replace(/\s*-- .*$/gm, '')
        .replace(/ concurrently\b/g, '') // the fixture is restored in one transaction
        .trim(),
    ),
  ]
}

// In the order in which they were made, so that a row comes after those that it refers to.
async function tablesOf(client: Client): Promise<Table[]> {
  const { rows } = await client.query<Table>(`
    select relname as name,
      array(select quote_ident(attname) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped order by attnum) as columns,
      (select string_agg(quote_ident(attname), ', ' order by place) from pg_index
        join unnest(indkey) with ordinality as k (attnum, place) on true
        join pg_attribute a on a.attrelid = indrelid and a.attnum = k.attnum
        where indrelid = c.oid and indisprimary) as key
    from pg_class c where relkind = 'r' and relnamespace = 'public'::regnamespace order by c.oid`)
  return rows
}

async function insertsOf(client: Client, { name, columns, key }: Table): Promise<string[]> {
  const values = columns.map(column => `quote_literal(${column}::text)`).join(', ')
  const { rows } = await client.query<{ values: (string | null)[] }>(
    `select array[${values}] as values from ${name} order by ${key}`,
  )
  return rows.map(row => {
    const set = columns.flatMap((column, at) =>
      row.values[at] === null ? [] : [{ column, value: row.values[at] }],
    )
    const names = set.map(({ column }) => column).join(', ')
    return `insert into ${name} (${names}) values (${set.map(({ value }) => value).join(', ')});`
  })
}
