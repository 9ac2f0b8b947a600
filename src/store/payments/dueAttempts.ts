import type { Sql } from 'sql-template-tag'
import type { Attempt } from '../../core/payment/attempt.ts'
import { type Db, sql, type Tx } from '../db.ts'
import { takeUnlocked } from '../skipLocked.ts'

// How many may be taken of one channel: of those that somebody knocked for, and of those whose time has come.
export type Room = { channel: string; knocked: boolean; most: number }
export type AskLease = { now: Date; until: Date }
export type DueAttempt = Attempt & { by_knock: boolean }

type Key = Pick<Attempt, 'merchant_id' | 'attempt_id'> & { knocked: boolean }

// Takes what is due under a lease, so that no other worker asks at the same time; when this one dies, the lease runs
// out and another asks. Asking twice would do no harm, only cost. The oldest of each room first, and nobody waits for an
// attempt that somebody else holds. No column that an index knows is changed: when it is asked about next, and whether
// somebody knocked, changes with the answer.
export const claimDueAttempts = (db: Db, rooms: readonly Room[], lease: AskLease) =>
  takeUnlocked<Key, DueAttempt>(db, {
    skipping: tx => tx.rows(sql`with due as (${dueUnlocked(rooms, lease)}) ${claim(sql`due`, lease)}`),
    find: tx => findDue(tx, rooms, lease),
    waiting: (tx, keys) => tx.rows(claim(keysOf(keys), lease)),
  })

const longestLeaseMs = 60_000

// A lease that ends later than any can was written by a clock that has been set back since.
const isFree = (now: Date) => sql`(lease_until is null or lease_until <= ${now}
  or lease_until > ${new Date(now.getTime() + longestLeaseMs)})`

// One index scan for each room, however many are due in the others. The limit around them cuts nothing: the planner
// would otherwise expect a tenth of all that is due.
const dueUnlocked = (rooms: readonly Room[], { now }: AskLease) => sql`
  select found.* from unnest(${rooms.map(r => r.channel)}::text[], ${rooms.map(r => r.knocked)}::boolean[],
      ${rooms.map(r => r.most)}::integer[]) as room (channel, knocked, most),
    lateral (
      select merchant_id, attempt_id, knocked from attempts
      where channel = room.channel and knocked = room.knocked and next_ask_at <= ${now} and ${isFree(now)}
      order by next_ask_at limit room.most for update skip locked) as found
  limit ${rooms.reduce((sum, { most }) => sum + most, 0)}`

async function findDue(tx: Tx, rooms: readonly Room[], { now }: AskLease): Promise<Key[]> {
  const found: Key[] = []
  for (const { channel, knocked, most } of rooms)
    found.push(
      ...(await tx.rows<Key>(sql`
        select merchant_id, attempt_id, knocked from attempts
        where channel = ${channel} and knocked = ${knocked} and next_ask_at <= ${now} and ${isFree(now)}
        order by next_ask_at limit ${most}`)),
    )
  return found
}

const keysOf = (keys: readonly Key[]) => sql`
  unnest(${keys.map(k => k.merchant_id)}::text[], ${keys.map(k => k.attempt_id)}::text[],
    ${keys.map(k => k.knocked)}::boolean[]) as due (merchant_id, attempt_id, knocked)`

const claim = (due: Sql, { now, until }: AskLease) => sql`
  update attempts a set lease_until = ${until}, asks = a.asks + 1
  from ${due}
  where a.merchant_id = due.merchant_id and a.attempt_id = due.attempt_id and a.next_ask_at <= ${now}
    and ${isFree(now)}
  returning a.*, due.knocked as by_knock`

// Of which something will be asked, whether they are set up or not.
export const channelsWithAttempts = async (tx: Tx) =>
  (
    await tx.rows<{ channel: string }>(
      sql`select distinct channel from attempts where next_ask_at is not null`,
    )
  ).map(({ channel }) => channel)
