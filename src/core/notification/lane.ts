import { isTrouble, type Result } from './delivery.ts'

export const mostInLane = 8
const failuresToOpen = 5
const firstPauseMs = 30_000
const longestPauseMs = 600_000
const stuckAfterMs = 1000

// What one process knows of a lane. It starts with one try at a time and doubles with every answer, so that an endpoint
// that hangs from the beginning costs one slot. The breaker is open while `openUntil` is set: until then nothing is
// sent, after it one try at a time, to see.
export type Lane = {
  inFlight: number
  allowed: number
  failures: number // in a row
  openUntil: number | null // ms
  pauseMs: number
  movedAt: number // ms; when the last one came back, or the first one left
}

export const newLane = (): Lane => ({
  inFlight: 0,
  allowed: 1,
  failures: 0,
  openUntil: null,
  pauseMs: firstPauseMs,
  movedAt: 0,
})

// Written out, as this is done for every try: a copy of all there is would be slow.
export const withInFlight = (lane: Lane, inFlight: number, movedAt: number): Lane => ({
  inFlight,
  allowed: lane.allowed,
  failures: lane.failures,
  openUntil: lane.openUntil,
  pauseMs: lane.pauseMs,
  movedAt,
})

export const breakerStates = ['closed', 'open', 'probing'] as const
export type BreakerState = (typeof breakerStates)[number]

export function breakerOf({ openUntil }: Lane, now: number): BreakerState {
  if (openUntil === null) return 'closed'
  const leftMs = openUntil - now // more than any pause is left when the clock has been set back
  return leftMs > 0 && leftMs <= longestPauseMs ? 'open' : 'probing'
}

export const isOpen = (lane: Lane, now: number) => breakerOf(lane, now) === 'open'

export function roomIn(lane: Lane, now: number): number {
  const most = lane.openUntil === null ? lane.allowed : isOpen(lane, now) ? 0 : 1
  return Math.max(0, most - lane.inFlight)
}

// A try has ended. `started` tells a probe from what was on its way when the breaker opened: that says nothing new. Null: it
// was sent past the breaker.
export function learn(lane: Lane, result: Result, started: number | null, now: number): Lane {
  const { allowed, failures, openUntil, pauseMs } = lane
  const inFlight = lane.inFlight - 1
  if (!isTrouble(result))
    return {
      inFlight,
      allowed: Math.min(mostInLane, openUntil === null ? allowed * 2 : 2),
      failures: 0,
      openUntil: null,
      pauseMs: firstPauseMs,
      movedAt: now,
    }
  const failed = { ...lane, inFlight, allowed: 1, failures: failures + 1, movedAt: now }
  if (openUntil === null)
    return failed.failures < failuresToOpen ? failed : { ...failed, openUntil: now + pauseMs }
  if (started === null || isOpen(lane, started)) return failed
  const longer = Math.min(pauseMs * 2, longestPauseMs)
  return { ...failed, pauseMs: longer, openUntil: now + longer }
}

// Nothing has come back for a while.
export const isStuck = ({ inFlight, movedAt }: Lane, now: number) =>
  inFlight > 0 && now - movedAt >= stuckAfterMs

// Nothing worth remembering: a lane that is met again starts like this.
export const isIdle = ({ inFlight, failures }: Lane) => inFlight === 0 && failures === 0
