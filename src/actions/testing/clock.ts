import { setTimeout as sleep } from 'node:timers/promises'
import type { Fields } from '../../core/interface/json.ts'
import { deactivated, malformed, Unavailable } from '../../core/interface/refusal.ts'
import { readAdvance } from '../../core/testing/advance.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Db } from '../../store/db.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import {
  type AttemptInFlight,
  type ClockMove,
  findMovable,
  lockTestPayments,
  moveAttempts,
  moveDeliveries,
  moveExpiry,
  moveMessages,
} from '../../store/testClock.ts'
import { mustBeTest, withSignedRequest } from '../interface/signedRequest.ts'

const batchPayments = 100 // in one transaction
export const maxMovedPayments = 1000 // by one request
const mostRead = 20_000
const mostMessages = 5000
const reserveMs = 2000 // the last batch ends before the deadline of the request
const cursor = /^[A-Za-z0-9\-_./#: ]{0,64}$/ // an invoice id
const inFlightTries = 5
const inFlightPauseMs = 200

export type Moved = { payments: number; polls: number; notifications: number; messages: number }
export type ClockAnswer = {
  merchant_id: string
  seconds: number
  moved: Moved
  in_flight: number // attempts that a provider was being called for: not moved
  next: string | undefined // there are more payments: the cursor of the next request
}

type ClockDeps = Pick<Runtime, 'db' | 'callers' | 'limits' | 'clock' | 'wake'>

// Advances the time of a merchant's test payments: everything that is due within the given time is due now.
export const advanceClock = (runtime: ClockDeps, sent: Fields, address: string): Promise<ClockAnswer> =>
  withSignedRequest(runtime, sent, ['advance', 'after'], address, async ({ caller, fields, deadline }) => {
    mustBeTest(caller)
    if (!caller.active) throw deactivated()
    const ms = readAdvance(fields.advance)
    const { after = '' } = fields
    if (!cursor.test(after)) throw malformed('after', 'must be the next of an earlier answer')
    runtime.limits.testTool(caller)
    const { merchant_id } = caller
    const db = runtime.db.withQuota('test_tools').withDeadline(deadline)
    const move = { merchant_id, ms, now: runtime.clock() }
    const progress = await movePayments(runtime, db, move, after, deadline)
    if (!after) progress.moved.messages = await moveMessages(db, move, mostMessages)
    const in_flight = await moveLater(runtime, db, move, progress)
    runtime.wake('pollers')
    runtime.wake('senders')
    return { merchant_id, seconds: ms / 1000, moved: progress.moved, in_flight, next: progress.next }
  })

type Progress = { moved: Moved; next: string | undefined; inFlight: AttemptInFlight[] }

// If the database fails after some batches, or the time of the request is over, the answer has what was moved so far: the
// client continues behind it, and nothing is moved twice.
async function movePayments(
  { clock }: ClockDeps,
  db: Db,
  move: ClockMove,
  after: string,
  deadline: number,
): Promise<Progress> {
  const { found, last } = await findMovable(db, move, { after, limit: maxMovedPayments, mostRead })
  const moved: Moved = { payments: 0, polls: 0, notifications: 0, messages: 0 }
  const inFlight: AttemptInFlight[] = []
  for (let at = 0; at < found.length; at += batchPayments) {
    const isLate = performance.now() > deadline - reserveMs
    const batch = found.slice(at, at + batchPayments).map(({ tx_reference }) => tx_reference)
    const counts =
      at > 0 && isLate
        ? undefined
        : await moveBatch(db, { ...move, now: clock() }, batch).catch(orThrow(at === 0))
    if (!counts) return { moved, inFlight, next: found[at - 1]?.invoice_id }
    moved.payments += counts.payments
    moved.polls += counts.polls
    moved.notifications += counts.notifications
    inFlight.push(...counts.inFlight)
  }
  return { moved, inFlight, next: last }
}

const orThrow = (isFirst: boolean) => (error: unknown) => {
  if (isFirst || !(error instanceof Unavailable)) throw error // a locked payment counts as unavailable
  return undefined
}

const moveBatch = (db: Db, move: ClockMove, references: readonly string[]) =>
  db.transaction(async tx => {
    const locked = await lockTestPayments(tx, move.merchant_id, references)
    const payments = await moveExpiry(tx, move, locked)
    const attempts = await moveAttempts(tx, move, locked)
    const notifications = await moveDeliveries(tx, move, locked)
    return { payments, polls: attempts.moved, inFlight: attempts.inFlight, notifications }
  })

// A call to a provider usually ends within milliseconds, so the attempts in flight are moved after it. Returns how many are
// still in flight.
async function moveLater(
  { clock }: ClockDeps,
  db: Db,
  move: ClockMove,
  { moved, inFlight }: Progress,
): Promise<number> {
  let left = inFlight
  for (let tries = 0; left.length > 0 && tries < inFlightTries; tries++) {
    await sleep(inFlightPauseMs)
    const attempts = await moveAttemptsOf(db, { ...move, now: clock() }, left)
    moved.polls += attempts.moved
    left = attempts.inFlight
  }
  return left.length
}

export const moveAttemptsOf = (db: Db, move: ClockMove, attempts: readonly AttemptInFlight[]) =>
  db.transaction(async tx => {
    const references = attempts.map(({ tx_reference }) => tx_reference)
    const locked = await lockTestPayments(tx, move.merchant_id, references)
    return moveAttempts(
      tx,
      move,
      locked,
      attempts.map(({ attempt_id }) => attempt_id),
    )
  })

// The time of one test payment is over.
export const expireNow = (db: Db, { merchant_id, tx_reference }: PaymentKey, now: Date) =>
  db.transaction(async tx =>
    moveExpiry(
      tx,
      { merchant_id, ms: forEverMs, now },
      await lockTestPayments(tx, merchant_id, [tx_reference]),
    ),
  )

const forEverMs = 100 * 365 * 86_400_000
