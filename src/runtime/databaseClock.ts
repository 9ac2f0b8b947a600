import {
  isUseful,
  jumpOf,
  type Measurement,
  type Pause,
  type ClockEstimate,
  estimateClock,
  timeBy,
} from '../core/databaseClock.ts'
import { timerOf, withinDeadline } from './deadline.ts'

const answerWithinMs = 2000
const steppedMs = 1000 // more than clocks drift apart between two measurements

// What the operator hears of it.
export type ClockWatch = {
  doubted(jumpMs: number): void
  believed(jumpMs: number): void // 0: the old time is back
}

export type ClockOptions = {
  measure(): Promise<Measurement>
  watch: ClockWatch
  wake(): void // measure now
  monotonicMs?(): number
  machineMs?(): number // the time of day that this machine shows
}

export type DatabaseClock = {
  now(): Date
  pause: Pause
  step(): Promise<void> // measures once; a failure leaves everything as it is
  isUnsure(): boolean
  jumpMs(): number // how far the database's clock is from what we reckon with
  machineAheadMs(): number // how far the time of day here is before what we reckon with
}

// What this node reckons in: the database's clock, carried on by the monotonic one. While it is in doubt, whoever works
// by the clock pauses, and requests are served by the old reckoning.
export function createDatabaseClock(first: ClockEstimate, options: ClockOptions): DatabaseClock {
  const { measure, watch, wake, monotonicMs = () => performance.now(), machineMs = Date.now } = options
  let reckoning = first
  const now = () => timeBy(reckoning, monotonicMs())
  const machineAhead = () => machineMs() - monotonicMs()
  let seenAhead = machineAhead() // when it was last measured
  let underWay: Promise<unknown> | undefined // one at a time, also when nobody waits for it any more
  let pausing: ReturnType<typeof newPause> | undefined

  // The machine slept, while its monotonic clock may have stood still; or somebody set its clock, which does no harm.
  // Which of them it was is only known when the database has been asked.
  const hasStepped = () => Math.abs(machineAhead() - seenAhead) > steppedMs
  const isUnsure = () => reckoning.doubt !== undefined || hasStepped()

  async function step() {
    if (underWay) return
    const ahead = machineAhead()
    const measuring = measure().finally(() => (underWay = undefined))
    underWay = measuring.catch(() => {})
    const measured = await withinDeadline(
      () => measuring,
      timerOf(answerWithinMs),
      'the database did not say the time',
    )
    if (Math.abs(machineAhead() - ahead) > steppedMs) return wake() // in the middle of it
    if (!isUseful(measured)) return
    seenAhead = ahead
    believe(estimateClock(reckoning, measured))
    if (isUnsure()) return
    pausing?.end()
    pausing = undefined
  }

  function believe(next: ClockEstimate) {
    const before = reckoning
    reckoning = next
    if (next.doubt && !before.doubt) watch.doubted(jumpOf(next))
    if (before.doubt && !next.doubt) watch.believed(next.aheadMs - before.aheadMs)
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
    jumpMs: () => jumpOf(reckoning),
    machineAheadMs: () => machineMs() - now().getTime(),
  }
}

function newPause() {
  let end: (() => void) | undefined
  const over = new Promise<void>(resolve => void (end = resolve))
  return { over, end: () => end?.() }
}
