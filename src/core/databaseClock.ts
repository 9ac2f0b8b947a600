// All nodes use the database's clock. Between two measurements a node continues it by its own monotonic clock, so the
// time of day of its machine does not matter, nor does a step of it.

const jumpMs = 10_000 // a larger difference is not accepted immediately
const acceptedAfterMs = 60_000
const sameWithinMs = 1000
const maxRoundTripMs = 2000 // a longer one is too imprecise: the database's clock was read at some time within it

// The database's clock, and the monotonic clock in the middle of the round trip.
export type Measurement = { databaseMs: number; monotonicMs: number; roundTripMs: number }

// By how much the database's clock is ahead of the monotonic one. `pendingJump`: the database's clock has jumped to this
// difference, which is not accepted yet.
export type ClockEstimate = { aheadMs: number; pendingJump?: PendingJump }
type PendingJump = { aheadMs: number; sinceMs: number }

const aheadIn = ({ databaseMs, monotonicMs }: Measurement) => databaseMs - monotonicMs

// From several measurements: the one with the shortest round trip is the most precise.
export function firstEstimate(measured: readonly [Measurement, ...Measurement[]]): ClockEstimate {
  return {
    aheadMs: aheadIn(measured.reduce((best, one) => (one.roundTripMs < best.roundTripMs ? one : best))),
  }
}

export const timeBy = ({ aheadMs }: ClockEstimate, monotonicMs: number) => new Date(aheadMs + monotonicMs)

export const isUseful = ({ roundTripMs }: Measurement) => roundTripMs <= maxRoundTripMs

// The estimate after a measurement. A small difference is accepted, unless it is within the error of the measurement. A
// jump (another server with another clock, a wrong clock, a machine that slept while its monotonic clock stopped) is
// accepted when it has stayed the same for a minute.
export function estimateClock(estimate: ClockEstimate, measured: Measurement): ClockEstimate {
  if (!isUseful(measured)) return estimate
  const { monotonicMs, roundTripMs } = measured
  const aheadMs = aheadIn(measured)
  const difference = Math.abs(aheadMs - estimate.aheadMs)
  if (difference <= roundTripMs / 2) return { aheadMs: estimate.aheadMs }
  if (difference <= jumpMs) return { aheadMs }
  const { pendingJump: doubt } = estimate
  if (!doubt || Math.abs(aheadMs - doubt.aheadMs) > sameWithinMs + roundTripMs / 2)
    return { ...estimate, pendingJump: { aheadMs, sinceMs: monotonicMs } }
  return monotonicMs - doubt.sinceMs >= acceptedAfterMs ? { aheadMs } : estimate
}

// By how much the database's clock has jumped; positive if forward.
export const jumpOf = ({ aheadMs, pendingJump: doubt }: ClockEstimate) =>
  doubt ? doubt.aheadMs - aheadMs : 0

// For workers. Returns undefined if they may work, otherwise a promise that resolves at the end of the pause.
export type Pause = () => Promise<void> | undefined
