import type { Mode } from '../../core/mode.ts'
import type { MinuteCounts } from '../../core/operator/minuteCounts.ts'
import { type Db, sql, type Tx } from '../db.ts'

export type NodeMinute = {
  minute: Date
  started_live: number
  started_test: number
  counts: MinuteCounts
}

// Overwrites the rows of this node.
export async function saveNodeMinutes(db: Db, node: string, minutes: readonly NodeMinute[]) {
  for (const { minute, started_live, started_test, counts } of minutes)
    await db.rows(sql`
      insert into node_minutes (minute, node, started_live, started_test, counts)
      values (${minute}, ${node}, ${started_live}, ${started_test}, ${counts})
      on conflict (minute, node) do update set started_live = excluded.started_live,
        started_test = excluded.started_test, counts = excluded.counts`)
}

export const deleteMinutesBefore = (db: Db, before: Date) =>
  db.count(sql`delete from node_minutes where minute < ${before}`)

// Of all nodes, oldest first.
export const nodeMinutesBetween = (tx: Tx, from: Date, until: Date) =>
  tx.rows<NodeMinute>(sql`
    select minute, started_live, started_test, counts from node_minutes
    where minute >= ${from} and minute < ${until} order by minute`)

// The minute with the most new payments of a mode since a time.
export const busiestMinute = (tx: Tx, mode: Mode, from: Date) => {
  const started = mode === 'live' ? sql`started_live` : sql`started_test`
  return tx.one<{ minute: Date; started: number }>(sql`
    select minute, sum(${started})::integer as started from node_minutes
    where minute >= ${from} group by minute order by started desc, minute limit 1`)
}
