import { raw, type Sql } from 'sql-template-tag'
import { ShardUnavailable } from '../core/interface/refusal.ts'
import { sql, type Tx } from './db.ts'

// A statement across merchants, such as a search for due work, needs all workers of a sharded database. If one is gone, the
// statement runs once for each worker, with the merchants whose rows are there. So the merchants of the other workers do not
// wait for it.
export type Among = {
  merchants(column: string): Sql // follows another condition
  suffix: string // of the name of a prepared statement
}

export const amongAll: Among = { merchants: () => sql``, suffix: '' }

// The collation keeps the planner from searching for each merchant: see ofMerchants in groupStatement.ts.
const among = (merchants: readonly string[]): Among => ({
  merchants: column => sql`and ${raw(column)} collate "C" = any(${merchants}::text[])`,
  suffix: '_among',
})

// Not in a transaction, which the first error would end.
export async function ofReachableMerchants<Row>(
  tx: Tx,
  statement: (among: Among) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const whole = await unlessGone(() => statement(amongAll))
  if (whole) return [...whole]
  const ofWorkers = await Promise.all(
    (await merchantsByWorker(tx)).map(({ merchants }) => unlessGone(() => statement(among(merchants)))),
  )
  return ofWorkers.flatMap(rows => rows ?? [])
}

// Undefined if a worker that it needs is gone.
export async function unlessGone<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ShardUnavailable) return undefined
    throw error
  }
}

// From the copies of these tables on the coordinator.
const merchantsByWorker = (tx: Tx) =>
  tx.rows<{ merchants: string[] }>(sql`
    select array_agg(m.merchant_id) as merchants from merchants m
      join pg_dist_placement p on p.shardid = get_shard_id_for_distribution_column('payments', m.merchant_id)
    group by p.groupid`)
