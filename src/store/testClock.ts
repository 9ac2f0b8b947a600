import { raw, type Sql } from 'sql-template-tag'
import type { Attempt } from '../core/payment/attempt.ts'
import { sql, type Tx } from './db.ts'

// Moves the times of a merchant's test rows back, so that work that is due later is due now and the production code finds
// it: no query has an offset. Every statement names the merchant and the test mode, so a live row never changes.
//
// There are two kinds of times. A due time moves to now at most: workers that read behind their last position still find
// it, and nothing looks overdue. A time that rules count from, such as the start of a delivery, moves by the whole amount.
//
// Locks are taken in the order of all other transactions: the payments by reference, then their attempts, then their
// deliveries by sequence.
//
// A move that runs twice moves twice: after a lost commit a batch may be moved by double the amount. That is accepted for
// test rows, because a record of every move would cost more than it helps.
export type ClockMove = { merchant_id: string; ms: number; now: Date }

// Subtracted in UTC, because that expression is immutable: a sharded database refuses others in an update.
const earlier = (column: string, { ms }: ClockMove) =>
  sql`(${raw(column)} at time zone 'UTC' - ${`${ms} milliseconds`}::interval) at time zone 'UTC'`

const dueEarlier = (column: string, move: ClockMove, earliest = move.now) =>
  sql`least(${raw(column)}, greatest(${earliest}::timestamptz, ${earlier(column, move)}))`

export type MovablePayment = { tx_reference: string; invoice_id: string }

// Test payments with something that is due later, in the order of their invoice ids, which is that of an index. At most
// `mostRead` payments are read. `last` is the cursor behind which there may be more.
export async function findMovable(
  tx: Tx,
  { merchant_id, now }: ClockMove,
  { after, limit, mostRead }: { after: string; limit: number; mostRead: number },
): Promise<{ found: MovablePayment[]; last: string | undefined }> {
  const read = await tx.rows<MovablePayment & { is_movable: boolean }>(sql`
    select p.tx_reference, p.invoice_id, (p.status <> 'paid' and p.expires_at > ${now})
      or exists (select from attempts a where a.merchant_id = ${merchant_id} and a.tx_reference = p.tx_reference
        and a.next_poll_at is not null)
      or exists (select from deliveries d where d.merchant_id = ${merchant_id} and d.tx_reference = p.tx_reference
        and d.next_try_at is not null) as is_movable
    from (select tx_reference, invoice_id, status, expires_at from payments
      where merchant_id = ${merchant_id} and mode = 'test' and invoice_id > ${after}
      order by invoice_id limit ${mostRead}) as p
    order by p.invoice_id`)
  const movable = read.filter(row => row.is_movable)
  const found = movable.slice(0, limit)
  const isCut = movable.length > limit || read.length === mostRead
  const last = movable.length > limit ? found.at(-1)?.invoice_id : read.at(-1)?.invoice_id
  return { found, last: isCut ? last : undefined }
}

// The references of the payments that exist and are test payments. They stay locked until the transaction ends.
export const lockTestPayments = async (
  tx: Tx,
  merchant_id: string,
  references: readonly string[],
): Promise<string[]> =>
  (
    await tx.rows<{ tx_reference: string }>(sql`
      select tx_reference from payments
      where merchant_id = ${merchant_id} and mode = 'test' and tx_reference = any(${references})
      order by tx_reference for update`)
  ).map(({ tx_reference }) => tx_reference)

const expiryAheadMs = 2000

// A search for expired payments continues where the last one ended, and may pass `now` before this is committed. So a
// payment expires a little later: otherwise it would wait for the search that starts from the oldest, up to a minute.
export const moveExpiry = (tx: Tx, move: ClockMove, references: readonly string[]): Promise<number> => {
  const earliest = new Date(move.now.getTime() + expiryAheadMs)
  return tx.count(sql`
    update payments set expires_at = ${dueEarlier('expires_at', move, earliest)}
    where merchant_id = ${move.merchant_id} and mode = 'test' and tx_reference = any(${references})
      and status <> 'paid' and expires_at > ${earliest}`)
}

const longestLeaseMs = 60_000

// A provider is being called for the attempt: by a worker that has leased it, or by the process that has just stored a
// sending, which waits for the reply until the next poll. The reply to a call must find the times of the call.
const isCalled = ({ now }: ClockMove) => {
  const ago = new Date(now.getTime() - longestLeaseMs)
  const ahead = new Date(now.getTime() + longestLeaseMs)
  return sql`(coalesce(lease_until > ${now} and lease_until <= ${ahead}, false)
    or (next_poll_at > ${now} and updated_at > ${ago}
      and (state = 'started' or updated_at = greatest(created_at, resent_at, submitted_at, gave_up_at))))`
}

export type AttemptInFlight = Pick<Attempt, 'attempt_id' | 'tx_reference'>
export type MovedAttempts = { moved: number; inFlight: AttemptInFlight[] }

// The attempts that are polled again, or some of them, and their charges at the simulated provider, which has the same
// clock. Attempts that a provider is being called for are left out.
export async function moveAttempts(
  tx: Tx,
  move: ClockMove,
  references: readonly string[],
  only?: readonly string[],
): Promise<MovedAttempts> {
  const { merchant_id } = move
  const found = await tx.rows<LockedAttempt>(sql`
    select attempt_id, tx_reference, coalesce(idempotency_key, attempt_id) as order_id, ${isCalled(move)} as is_called
    from attempts
    where merchant_id = ${merchant_id} and mode = 'test' and tx_reference = any(${references})
      and next_poll_at is not null and (${only ?? null}::text[] is null or attempt_id = any(${only ?? null}::text[]))
    order by tx_reference, number for update`)
  const free = found.filter(one => !one.is_called)
  const inFlight = found.filter(one => one.is_called)
  if (free.length === 0) return { moved: 0, inFlight }
  await tx.rows(sql`
    update attempts set next_poll_at = ${dueEarlier('next_poll_at', move)},
      ${assignments(attemptTimes, column => earlier(column, move))}
    where merchant_id = ${merchant_id} and mode = 'test' and attempt_id = any(${free.map(one => one.attempt_id)})`)
  await tx.rows(sql`
    update sandbox_charges set ${assignments(['created_at', 'decided_at'], column => earlier(column, move))}
    where merchant_id = ${merchant_id} and reference = any(${free.map(one => one.order_id)})`)
  return { moved: free.length, inFlight }
}

type LockedAttempt = AttemptInFlight & { order_id: string; is_called: boolean }

// Rules count from these: when a request ends, when "not found" is final, how long a failure may be reversed, and when an
// unresolved attempt becomes a task.
const attemptTimes = [
  'created_at',
  'resent_at',
  'submitted_at',
  'declined_at',
  'returned_at',
  'gave_up_at',
  'ended_at',
]

const assignments = (columns: readonly string[], value: (column: string) => Sql): Sql =>
  columns.map(column => sql`${raw(column)} = ${value(column)}`).reduce((all, one) => sql`${all}, ${one}`)

// Deliveries that have not ended. A try in flight keeps its lease and stores its own next time; only its schedule begins
// earlier.
export async function moveDeliveries(
  tx: Tx,
  move: ClockMove,
  references: readonly string[],
): Promise<number> {
  const { merchant_id, now } = move
  const open = sql`merchant_id = ${merchant_id} and mode = 'test' and tx_reference = any(${references})
    and next_try_at is not null`
  await tx.rows(sql`select from deliveries where ${open} order by tx_reference, sequence for update`)
  return tx.count(sql`
    update deliveries set begun_at = ${earlier('begun_at', move)},
      next_try_at = case when lease_until > ${now} then next_try_at else ${dueEarlier('next_try_at', move)} end
    where ${open}`)
}

// Messages that wait for their next try. One that is being sent has a lease in `next_try_at`, and is left out. `sent_at`
// stays, because the caps count by it.
export const moveMessages = (tx: Tx, move: ClockMove, limit: number): Promise<number> =>
  tx.count(sql`
    update messages set created_at = ${earlier('created_at', move)}, next_try_at = ${dueEarlier('next_try_at', move)}
    where merchant_id = ${move.merchant_id} and mode = 'test' and message_id = any(array(
      select message_id from messages
      where merchant_id = ${move.merchant_id} and mode = 'test' and next_try_at is not null
        and (lease_token is null or next_try_at <= ${move.now})
      order by message_id limit ${limit} for update))`)
