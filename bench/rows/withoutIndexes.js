// Fills large tables faster: an index that is built at once costs less than one that every row is added to.
import { query } from './database.js'

const filled = `('payments', 'attempts', 'notifications', 'deliveries', 'messages', 'transfers')`

// Foreign keys, and the indexes that are no constraints, as statements that make them again.
const dropped = `
  select format('alter table %s drop constraint %I', conrelid::regclass, conname) as drop,
    format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as make
  from pg_constraint where contype = 'f' and conrelid::regclass::text in ${filled}
  union all
  select format('drop index %s', indexrelid::regclass), pg_get_indexdef(indexrelid)
  from pg_index
  where indrelid::regclass::text in ${filled} and not exists (select from pg_constraint where conindid = indexrelid)`

export async function withoutIndexes(url, work) {
  const all = await query(url, dropped)
  for (const { drop } of all) await query(url, drop)
  await work()
  for (const { make } of all) await query(url, `set maintenance_work_mem = '512MB'; ${make}`)
}
