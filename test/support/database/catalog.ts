import { query } from './database.ts'

const ours = `'public'::regnamespace`

// Everything in the catalog about a schema, one line each, sorted: two schemas with the same lines differ at most in the
// order of columns.
export async function catalogOf(url: string): Promise<string[]> {
  const found = await query(url, parts.join(' union all '))
  return found.map(({ line }) => line as string).toSorted()
}

const parts = [
  // tables, indexes, views, sequences
  `select format('%s %s %s of %s %s', relkind, relname, coalesce(reloptions::text, 'as usual'), relpersistence,
     (select amname from pg_am where oid = relam)) as line
   from pg_class where relnamespace = ${ours}`,
  `select format('column %s.%s %s, null %s, default %s, generated %s, identity %s, collation %s, kept %s %s, figures %s %s',
     relname, attname, format_type(atttypid, atttypmod), not attnotnull, coalesce(pg_get_expr(adbin, adrelid), 'none'),
     attgenerated, attidentity, attcollation::regcollation, attstorage, attcompression, attstattarget, attoptions) as line
   from pg_attribute a join pg_class c on c.oid = attrelid
   left join pg_attrdef on adrelid = attrelid and adnum = attnum
   where relkind in ('r', 'p') and relnamespace = ${ours} and attnum > 0 and not attisdropped`,
  `select format('constraint %s of %s: %s', conname, conrelid::regclass, pg_get_constraintdef(oid)) as line
   from pg_constraint where connamespace = ${ours}`,
  `select format('index %s, valid %s', pg_get_indexdef(indexrelid), indisvalid) as line
   from pg_index join pg_class on pg_class.oid = indexrelid where relnamespace = ${ours}`,
  `select format('trigger %s', pg_get_triggerdef(t.oid)) as line
   from pg_trigger t join pg_class c on c.oid = tgrelid where not tgisinternal and relnamespace = ${ours}`,
  `select format('function %s', oid::regprocedure) as line from pg_proc where pronamespace = ${ours}`,
  `select format('type %s', typname) as line from pg_type
   where typnamespace = ${ours} and typrelid = 0 and typelem = 0`,
]
