import type { Mode } from '../../core/mode.ts'
import type { Notification } from '../../core/notification/notification.ts'
import { type Db, sql, type Tx } from '../db.ts'

// The notifications of a merchant in one mode, in the order of their positions. Positions are assigned when the feed is
// read, by one reader at a time. A row that commits later gets a higher position, so a client that follows the positions
// receives every row, however late a transaction commits.
export type Feed = { merchant_id: string; mode: Mode }
export type FeedEvent = Pick<
  Notification,
  'tx_reference' | 'sequence' | 'status' | 'type' | 'body' | 'created_at'
> & {
  position: bigint
}

export const readFeed = (tx: Tx, { merchant_id, mode }: Feed, after: bigint, limit: number) =>
  tx.rows<FeedEvent>(sql`
    select position, tx_reference, sequence, status, type, body, created_at from notifications
    where merchant_id = ${merchant_id} and mode = ${mode} and position > ${after}
    order by position limit ${limit}`)

type FeedEnd = { position: bigint | null; unnumbered: boolean }

// The last position, null if the feed was never read, and whether there are rows without one. `order by ... limit 1` makes
// PostgreSQL use the index of rows without a position, never the whole table.
export const endOfFeed = async (tx: Tx, { merchant_id, mode }: Feed, since: Date): Promise<FeedEnd> =>
  (await tx.one<FeedEnd>(sql`
    select (select position from feeds where merchant_id = ${merchant_id} and mode = ${mode}) as position,
      (select true from notifications where merchant_id = ${merchant_id} and mode = ${mode}
        and position is null and created_at >= ${since} order by created_at limit 1) is true as unnumbered`)) as FeedEnd

// The oldest position. A reader continues there if the rows after its position are not kept any more.
export const oldestKept = async (tx: Tx, { merchant_id, mode }: Feed, since: Date) =>
  (
    await tx.one<{ position: bigint }>(sql`
      select position from notifications
      where merchant_id = ${merchant_id} and mode = ${mode} and created_at >= ${since} and position is not null
      order by created_at, position limit 1`)
  )?.position

// Assigns positions. If it runs again after a commit whose answer was lost, it finds its own positions and continues
// behind them.
export const numberFeed = (db: Db, { merchant_id, mode }: Feed, since: Date, limit: number) =>
  db.transaction(async tx => {
    await tx.rows(sql`
      insert into feeds (merchant_id, mode) values (${merchant_id}, ${mode})
      on conflict (merchant_id, mode) do nothing`)
    const last = await tx.one<{ position: bigint }>(sql`
      select position from feeds where merchant_id = ${merchant_id} and mode = ${mode} for update`)
    const numbered = await tx.rows(sql`
      update notifications n set position = ${last?.position ?? 0n} + next.number
      from (
        select tx_reference, sequence, row_number() over (order by reached, tx_reference, sequence) as number
        from (${ofPaymentsInTurn({ merchant_id, mode }, since, limit)}) as turns) as next
      where n.merchant_id = ${merchant_id} and n.tx_reference = next.tx_reference and n.sequence = next.sequence
      returning 1`)
    await tx.rows(sql`
      update feeds set position = position + ${numbered.length}
      where merchant_id = ${merchant_id} and mode = ${mode}`)
  })

// The oldest rows without a position, and the rows of the same payments that precede them: the clocks of two nodes may
// differ, but the events of a payment keep their order. `offset 0` makes PostgreSQL find the latter by their key, even if
// the table has grown fast and has no statistics yet.
const ofPaymentsInTurn = ({ merchant_id, mode }: Feed, since: Date, limit: number) => sql`
  select tx_reference, sequence, max(created_at) over (partition by tx_reference order by sequence) as reached
  from (
    select distinct e.tx_reference, e.sequence, e.created_at
    from (
        select tx_reference, sequence from notifications
        where merchant_id = ${merchant_id} and mode = ${mode} and position is null and created_at >= ${since}
        order by created_at, tx_reference, sequence limit ${limit}) as oldest
      cross join lateral (
        select tx_reference, sequence, created_at, position from notifications
        where merchant_id = ${merchant_id} and tx_reference = oldest.tx_reference and sequence <= oldest.sequence
        offset 0) as e
    where e.position is null and e.created_at >= ${since}) as found`
