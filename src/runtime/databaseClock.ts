import {
  type ClockEstimate,
  estimateClock,
  firstEstimate,
  isUseful,
  jumpOf,
  type Measurement,
  type Pause,
  timeBy,
} from '../core/databaseClock.ts'
import type { Db } from '../store/db.ts'
import { readDatabaseMs } from '../store/serverFacts.ts'
import { timerOf, withinDeadline } from './deadline.ts'
import { newPause } from './pause.ts'

const measureTimeoutMs = 2000
const steppedMs = 1000 // more than clocks drift apart between two measurements

// One measurement. It runs in a transaction, so that the wait for a connection is not part of the round trip.
export const measureClock = (db: Db): Promise<Measurement> =>
  db.transaction(async tx => {
    const sentMs = performance.now()
    const databaseMs = await readDatabaseMs(tx)
    const receivedMs = performance.now()
    return { databaseMs, monotonicMs: (sentMs + receivedMs) / 2, roundTripMs: receivedMs - sentMs }
  })

// The first statement of a connection takes longer, so several are measured.
export async function measureFirst(db: Db) {
  return firstEstimate([await measureClock(db), await measureClock(db), await measureClock(db)])
}

// For short work, such as a command: the clock is measured only at the start.
export async function readClock(db: Db): Promise<() => Date> {
  const estimate = await measureFirst(db)
  return () => timeBy(estimate, performance.now())
}

// For the operator.
export type ClockWatch = {
  jumpSuspected(jumpMs: number): void
  jumpAccepted(jumpMs: number): void // 0: the clock has returned to the old time
}

type ClockOptions = {
  measure(): Promise<Measurement>
  watch: ClockWatch
  wake(): void // measure now
  monotonicMs?(): number
  machineMs?(): number // the time of day of this machine
}

export type DatabaseClock = {
  now(): Date
  pause: Pause
  step(): Promise<void> // measures once; after a failure the estimate stays
  isUnsure(): boolean
  jumpMs(): number // by how much the database's clock is ahead of the estimate
  machineAheadMs(): number // by how much the time of day of this machine is ahead of the estimate
}

// The time of this node: the database's clock, continued by the monotonic one between two measurements. While the
// estimate is uncertain, workers pause, and requests are served by the old estimate.
export function createDatabaseClock(first: ClockEstimate, options: ClockOptions): DatabaseClock {
  const { measure, watch, wake, monotonicMs = () => performance.now(), machineMs = Date.now } = options
  let estimate = first
  const now = () => timeBy(estimate, monotonicMs())
  const machineAhead = () => machineMs() - monotonicMs()
  let measuredAhead = machineAhead() // at the last measurement
  let measuring: Promise<unknown> | undefined // one at a time, even after its deadline
  let pausing: ReturnType<typeof newPause> | undefined

  // The machine has slept, and its monotonic clock may have stopped meanwhile; or its clock was set, which does no harm.
  // Only another measurement shows which of them it was.
  const hasStepped = () => Math.abs(machineAhead() - measuredAhead) > steppedMs
  const isUnsure = () => estimate.pendingJump !== undefined || hasStepped()

  async function step() {
    if (measuring) return
    const ahead = machineAhead()
    const measurement = measure().finally(() => (measuring = undefined))
    measuring = measurement.catch(() => {})
    const measured = await withinDeadline(
      () => measurement,
      timerOf(measureTimeoutMs),
      'the database did not return its time',
    )
    if (Math.abs(machineAhead() - ahead) > steppedMs) return wake() // stepped during the measurement
    if (!isUseful(measured)) return
    measuredAhead = ahead
    update(estimateClock(estimate, measured))
    if (isUnsure()) return
    pausing?.end()
    pausing = undefined
  }

  function update(next: ClockEstimate) {
    const before = estimate
    estimate = next
    if (next.pendingJump && !before.pendingJump) watch.jumpSuspected(jumpOf(next))
    if (before.pendingJump && !next.pendingJump) watch.jumpAccepted(next.aheadMs - before.aheadMs)
  }

  function pause() {
    if (!isUnsure()) return undefined
    if (!pausing) {
      pausing = newPause()
      wake()
    }
    return pausing.over
  }

  return {
    now,
    pause,
    step,
    isUnsure,
    jumpMs: () => jumpOf(estimate),
    machineAheadMs: () => machineMs() - now().getTime(),
  }
}
