import type { Mode } from '../../core/mode.ts'
import { type PathCount, type PathGroup, pathsOfGroup } from '../../core/notification/lane.ts'
import { named, sql, type Tx } from '../db.ts'
import { ofMerchants } from '../groupStatement.ts'

export type PathCounts = PathGroup & Pick<PathCount, 'path' | 'paid' | 'acknowledged'> & { hour: Date }

const groupsOf = (groups: readonly PathGroup[]) => sql`unnest(${groups.map(g => g.merchant_id)}::text[],
  ${groups.map(g => g.mode)}::text[], ${groups.map(g => g.origin)}::text[])`

// Returns the paths of each group, in the order of the groups.
export async function findAcknowledgedPaths(
  tx: Tx,
  groups: readonly PathGroup[],
  since: Date,
): Promise<PathCount[][]> {
  const found = await tx.tuples<[number, string, number, number, number]>(named('find_acknowledged_paths')`
    select k.place::integer, a.path, coalesce(sum(a.paid) filter (where a.hour > ${since}), 0)::integer,
      coalesce(sum(a.acknowledged) filter (where a.hour > ${since}), 0)::integer,
      coalesce(sum(a.acknowledged) filter (where a.hour <= ${since}), 0)::integer
    from ${groupsOf(groups)} with ordinality as k (merchant_id, mode, origin, place)
      join acknowledged_paths a on a.merchant_id = k.merchant_id and a.mode = k.mode and a.origin = k.origin
        and ${ofMerchants('a', groups)}
    group by k.place, a.path`)
  const counts = groups.map((): PathCount[] => [])
  for (const [place, path, paid, acknowledged, earlier] of found)
    counts[place - 1]?.push({ path, paid, acknowledged, earlier })
  return counts
}

// Rows are written in the order of the key, so that two nodes cannot deadlock. A statement that runs twice counts twice,
// which does no harm: the counts only rank paths.
export const addAcknowledgements = (tx: Tx, all: readonly PathCounts[]) =>
  tx.rows(named('add_acknowledgements')`
    insert into acknowledged_paths as a (merchant_id, mode, origin, path, hour, paid, acknowledged)
    select * from unnest(${all.map(c => c.merchant_id)}::text[], ${all.map(c => c.mode)}::text[],
      ${all.map(c => c.origin)}::text[], ${all.map(c => c.path)}::text[], ${all.map(c => c.hour)}::timestamptz[],
      ${all.map(c => c.paid)}::integer[], ${all.map(c => c.acknowledged)}::integer[]) order by 1, 2, 3, 4, 5
    on conflict (merchant_id, mode, origin, path, hour) do update
      set paid = a.paid + excluded.paid, acknowledged = a.acknowledged + excluded.acknowledged`)

type PathRow = { merchant_id: string; mode: Mode; origin: string; path: string; hour: Date }

// Removes the hours before `day`, except the last of each origin, which stays until `month`; and of each origin the paths
// beyond the first 16. Returns how many rows were removed.
export async function forgetAcknowledgements(
  tx: Tx,
  { day, month }: { day: Date; month: Date },
  limit: number,
): Promise<number> {
  const found = await tx.rows<PathRow>(sql`
    select merchant_id, mode, origin, path, hour from acknowledged_paths a
    where hour < ${day} and (hour < ${month} or exists (select from acknowledged_paths later
      where later.merchant_id = a.merchant_id and later.mode = a.mode and later.origin = a.origin
        and later.hour > a.hour))
    union
    select a.merchant_id, a.mode, a.origin, a.path, a.hour from acknowledged_paths a
      join (select merchant_id, mode, origin, path, row_number() over (partition by merchant_id, mode, origin
          order by sum(paid) desc, sum(acknowledged) desc, max(hour) desc) as place
        from acknowledged_paths group by merchant_id, mode, origin, path) as ranked
      on ranked.merchant_id = a.merchant_id and ranked.mode = a.mode and ranked.origin = a.origin
        and ranked.path = a.path
    where ranked.place > ${pathsOfGroup}
    limit ${limit}`)
  if (found.length === 0) return 0
  return tx.count(sql`
    delete from acknowledged_paths a
    using unnest(${found.map(f => f.merchant_id)}::text[], ${found.map(f => f.mode)}::text[],
        ${found.map(f => f.origin)}::text[], ${found.map(f => f.path)}::text[],
        ${found.map(f => f.hour)}::timestamptz[]) as k (merchant_id, mode, origin, path, hour)
    where a.merchant_id = k.merchant_id and a.mode = k.mode and a.origin = k.origin and a.path = k.path
      and a.hour = k.hour and ${ofMerchants('a', found)}`)
}
