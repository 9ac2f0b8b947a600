// All nodes reckon in the database's clock. Between two measurements a node goes on by its own monotonic clock, so the
// time of day that its machine shows plays no part, and a step of it changes nothing.

const jumpMs = 10_000 // what is further away is not believed at once
const provedAfterMs = 60_000
const sameWithinMs = 1000
const usefulMs = 2000 // a longer round trip tells too little: the database's clock was read somewhere within it

// What the database's clock said, and what ours said half way between the question and the answer.
export type Measurement = { databaseMs: number; monotonicMs: number; roundTripMs: number }

// By how much the database's clock is ahead of the monotonic one, as we believe; and what it says meanwhile when we do
// not believe it, since when.
export type ClockEstimate = { aheadMs: number; doubt?: ClockUncertainty }
export type ClockUncertainty = { aheadMs: number; sinceMs: number }

const aheadIn = ({ databaseMs, monotonicMs }: Measurement) => databaseMs - monotonicMs

// Nothing is known yet: the quickest of some measurements is the truest.
export function firstEstimate(measured: readonly [Measurement, ...Measurement[]]): ClockEstimate {
  return {
    aheadMs: aheadIn(measured.reduce((best, one) => (one.roundTripMs < best.roundTripMs ? one : best))),
  }
}

export const timeBy = ({ aheadMs }: ClockEstimate, monotonicMs: number) => new Date(aheadMs + monotonicMs)

export const isUseful = ({ roundTripMs }: Measurement) => roundTripMs <= usefulMs

// What a measurement makes of a reckoning. A small difference is believed, unless it is within what the measurement
// itself does not know. A jump (another server with another clock, a lie, a machine that slept while its monotonic
// clock stood still) is believed when it has stayed the same for a minute.
export function estimateClock(reckoning: ClockEstimate, measured: Measurement): ClockEstimate {
  if (!isUseful(measured)) return reckoning
  const { monotonicMs, roundTripMs } = measured
  const aheadMs = aheadIn(measured)
  const difference = Math.abs(aheadMs - reckoning.aheadMs)
  if (difference <= roundTripMs / 2) return { aheadMs: reckoning.aheadMs }
  if (difference <= jumpMs) return { aheadMs }
  const { doubt } = reckoning
  if (!doubt || Math.abs(aheadMs - doubt.aheadMs) > sameWithinMs + roundTripMs / 2)
    return { ...reckoning, doubt: { aheadMs, sinceMs: monotonicMs } }
  return monotonicMs - doubt.sinceMs >= provedAfterMs ? { aheadMs } : reckoning
}

// How far the database's clock is from what we reckon with: forward when it is positive.
export const jumpOf = ({ aheadMs, doubt }: ClockEstimate) => (doubt ? doubt.aheadMs - aheadMs : 0)

// For those who work by the clock. Undefined when they may go on; otherwise it ends with the pause.
export type Pause = () => Promise<void> | undefined
