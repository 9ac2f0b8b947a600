import { timeouts } from './connections/pool.ts'
import { type Db, sql, type Tx } from './db.ts'
import { findSharded } from './migrate/distribute.ts'
import { expectedSchema, type SchemaObject } from './migrate/expectedSchema.ts'
import { appendOnlyTables } from './migrate/tablePlaces.ts'

// What `tollgate doctor` reads about the schema, the role and the sessions. Nothing here changes the database.

// Whatever schema the migrations ran in.
const ours = sql`(select relnamespace from pg_class where oid = to_regclass('migrations'))`

// Objects of the migrations of this release that are not there.
export async function missingObjects(tx: Tx): Promise<SchemaObject[]> {
  const present = await tx.rows<{ object: string }>(sql`
    select 'table ' || relname as object from pg_class where relkind in ('r', 'p') and relnamespace = ${ours}
    union all select 'index ' || relname from pg_class where relkind in ('i', 'I') and relnamespace = ${ours}
    union all select 'column ' || relname || '.' || attname
      from pg_attribute join pg_class c on c.oid = attrelid
      where relkind in ('r', 'p') and relnamespace = ${ours} and attnum > 0 and not attisdropped
    union all select 'primary key of ' || relname
      from pg_constraint join pg_class c on c.oid = conrelid where contype = 'p' and relnamespace = ${ours}
    union all select 'trigger ' || tgname
      from pg_trigger join pg_class c on c.oid = tgrelid
      where not tgisinternal and tgenabled in ('O', 'A') and relnamespace = ${ours}
    union all select 'function ' || proname from pg_proc where pronamespace = ${ours}`)
  const names = new Set(present.map(({ object }) => object))
  for (const table of await findSharded(tx)) names.add(`trigger ${table}_append_only`) // a privilege stands in for it
  return expectedSchema().filter(({ object }) => !names.has(object))
}

// Indexes that queries do not use, because building them was interrupted. Those that are being built now do not count.
export const invalidIndexes = async (tx: Tx): Promise<string[]> =>
  (
    await tx.rows<{ name: string }>(sql`
      select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
      where not indisvalid and relnamespace = ${ours}
        and indexrelid not in (select index_relid from pg_stat_progress_create_index)
      order by relname`)
  ).map(({ name }) => name)

export type RoleRights = {
  role: string
  is_superuser: boolean
  may_use_schema: boolean
  missing: { table: string; rights: string }[]
  changeable: string[] // append-only tables whose rows the role may change or delete
  owned: string[] // append-only tables that the role owns, so that it can disable their triggers
}

// Undefined if there are no tables yet. Tables are found in the catalog, because a role without rights finds none by name.
export const readRoleRights = (tx: Tx) =>
  tx.one<RoleRights>(sql`
    with tables as (
      select c.oid, relname, relowner, relnamespace, relname = any(${appendOnlyTables}::text[]) as is_append_only
      from pg_class c
      where relkind in ('r', 'p') and relname = any(${tableNames()}::text[]) and relnamespace = (
        select relnamespace from pg_class join pg_namespace n on n.oid = relnamespace
        where relname = 'migrations' and relkind = 'r' order by nspname = 'public' desc limit 1)
    ), rights as (
      select tables.*, wanted, has_table_privilege(oid, wanted) as has
      from tables, unnest(array['select', 'insert', 'update', 'delete']) as wanted
    )
    select current_user::text as role,
      (select rolsuper from pg_roles where rolname = current_user) as is_superuser,
      (select bool_and(has_schema_privilege(relnamespace, 'usage')) from tables) as may_use_schema,
      coalesce((select json_agg(json_build_object('table', relname, 'rights', lacks) order by relname) from (
        select relname, string_agg(wanted, ', ' order by wanted) as lacks from rights
        where not has and not (is_append_only and wanted in ('update', 'delete')) group by relname) as lacking), '[]') as missing,
      array(select distinct relname::text from rights
        where is_append_only and has and wanted in ('update', 'delete') order by 1) as changeable,
      array(select relname::text from tables
        where is_append_only and pg_has_role(relowner, 'usage') order by 1) as owned
    where exists (select from tables)`)

const tableNames = () => expectedSchema().flatMap(({ object }) => /^table (\w+)$/.exec(object)?.[1] ?? [])

export type LostTimeout = { name: string; ms: number }

// Timeouts that do not hold in a single statement or in a transaction: something in between forgets what is set for a
// session, and is not recognized as a pooler, behind which each transaction sets them.
export async function lostTimeouts(db: Db): Promise<LostTimeout[]> {
  const read = sql`
    select name, setting::integer as ms from pg_settings where name = any(${Object.keys(timeouts)}::text[])`
  const alone = await db.rows<LostTimeout>(read)
  const together = await db.transaction(tx => tx.rows<LostTimeout>(read))
  const lost = [...alone, ...together].filter(
    ({ name, ms }) => ms === 0 || ms > timeouts[name as keyof typeof timeouts],
  )
  return [...new Map(lost.map(one => [one.name, one])).values()]
}
