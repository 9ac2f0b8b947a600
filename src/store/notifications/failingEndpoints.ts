import type { Mode } from '../../core/mode.ts'
import type { Delivery } from '../../core/notification/delivery.ts'
import { type Db, type Query, sql, type Tx } from '../db.ts'
import { withShardedVariant } from '../shardedVariant.ts'

const maxRead = 2000 // failed deliveries: enough to see which endpoints fail
const maxParked = 1000 // of one lane

export type FailingLane = Pick<Delivery, 'merchant_id' | 'url' | 'lane' | 'last_result'> & {
  merchant_name: string
  last_status: number | null
  last_words: string | null
  waiting: number
  next_try_at: Date
}

// The lanes with deliveries that failed and are tried again, the worst `most`, with the result of the last try. Those that
// wait behind them without a try are counted, too.
export function failingLanes(db: Db, mode: Mode, most: number) {
  const read = (parkedBehind: Query) => db.rows<FailingLane>(failingWith(mode, most, parkedBehind))
  return withShardedVariant(
    () =>
      read(sql`
        cross join lateral (
          select count(*)::integer as count from (
            select from deliveries d
            where d.merchant_id = l.merchant_id and d.lane = l.lane and d.parked and not d.retry limit ${maxParked}) as counted
        ) as parked`),
    () =>
      read(sql`
        left join (
          select merchant_id, lane, least(count(*), ${maxParked})::integer as count
          from deliveries where parked and not retry group by merchant_id, lane
        ) as parked on parked.merchant_id = l.merchant_id and parked.lane = l.lane`),
  )
}

// `parkedBehind` joins the table `parked` with the count of each lane.
const failingWith = (mode: Mode, most: number, parkedBehind: Query) => sql`
    with failed as materialized (
      select merchant_id, lane, url, last_result, last_status, last_words, last_try_at, next_try_at
      from deliveries where retry and next_try_at is not null and mode = ${mode}
      order by next_try_at limit ${maxRead}),
    lanes as (
      select merchant_id, lane, count(*)::integer as tried, min(next_try_at) as next_try_at,
        (array_agg(url order by last_try_at desc nulls last))[1] as url,
        (array_agg(last_result order by last_try_at desc nulls last))[1] as last_result,
        (array_agg(last_status order by last_try_at desc nulls last))[1] as last_status,
        (array_agg(last_words order by last_try_at desc nulls last))[1] as last_words
      from failed group by merchant_id, lane order by count(*) desc limit ${most})
    select l.merchant_id, m.name as merchant_name, l.lane, l.url, l.last_result, l.last_status, l.last_words,
      l.next_try_at, l.tried + coalesce(parked.count, 0) as waiting
    from lanes l join merchants m on m.merchant_id = l.merchant_id ${parkedBehind}
    order by waiting desc, l.merchant_id, l.lane`

const maxCounted = 10_000

// The notifications that are not acknowledged and are sent again, up to one more than is counted.
export const countWaitingDeliveries = async (
  tx: Tx,
  mode: Mode,
): Promise<{ count: number; more: boolean }> => {
  const row = await tx.one<{ count: number }>(sql`
    select count(*)::integer as count from (
      select from deliveries where next_try_at is not null and mode = ${mode} limit ${maxCounted + 1}) as counted`)
  const count = row?.count ?? 0
  return { count: Math.min(count, maxCounted), more: count > maxCounted }
}
