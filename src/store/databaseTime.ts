import { sql, type Tx } from './db.ts'

// What the database's clock shows at this moment, to the microsecond. Not now(): that is when the transaction began.
export async function readDatabaseMs(tx: Tx): Promise<number> {
  const read = await tx.one<{ ms: number }>(
    sql`select (extract(epoch from clock_timestamp()) * 1000)::double precision as ms`,
  )
  if (!read) throw new Error('the database does not say what time it is')
  return read.ms
}
