const second = 1000
const minute = 60 * second
const hour = 60 * minute

// For one try, from its connection to the headers of its answer.
export const tryDeadlineMs = 10_000

// When a delivery is tried, in ms after its beginning. After the last one it is exhausted.
export const offsets = [
  0, 10, 40, 100, 220, 520, 1120, 2320, 4720, 8320, 13_720, 20_920, 31_720, 46_120, 64_120, 85_720,
].map(seconds => seconds * second)
const lastOffset = offsets[offsets.length - 1] as number
export const deliveryWindowMs = 24 * hour // no try starts later, except the grace try below

const smallJitter = 2 * second
const jitterShare = 0.1
const largestJitter = 5 * minute
const parkedAtMostMs = 6 * hour // then a delivery is tried even if the breaker of its lane is open

// Spreads tries that failed together. It is added to the schedule and not to the last try, so that it never accumulates.
export function jitterOf(at: number, random: number): number {
  const gap = (offsets[at] as number) - (offsets[at - 1] as number)
  return Math.floor(random * Math.min(Math.max(smallJitter, gap * jitterShare), largestJitter))
}

// When to try again after a try that started at `started` and failed; null if that was the last one. Tries that were
// skipped, because the gateway was down or the lane was parked, are replaced by that one try. After the window there is
// no next one: a try that starts that late is the grace try.
export function nextTryAt(begun: Date, started: Date, random: number, requestedMs = 0): Date | null {
  const passed = Math.max(0, started.getTime() - begun.getTime()) // another node's clock may be ahead
  const at = offsets.findIndex(offset => offset > passed)
  if (at === -1) return null
  const planned = (offsets[at] as number) + jitterOf(at, random)
  return new Date(begun.getTime() + Math.max(planned, requestedOffset(at, passed, requestedMs)))
}

// An endpoint may ask for more time, up to twice the gap, but never past the last try.
function requestedOffset(at: number, passed: number, requestedMs: number): number {
  const before = offsets[at - 1] as number
  const twice = before + 2 * ((offsets[at] as number) - before)
  return Math.min(passed + requestedMs, twice, lastOffset)
}

// When a parked delivery is tried whatever the state of its lane.
export function tryAnyway(begun: Date, lastTry: Date | null): Date {
  const since = (lastTry && lastTry > begun ? lastTry : begun).getTime()
  const last = begun.getTime() + lastOffset
  // The last try of the schedule, or the grace try after it.
  return new Date(since >= last ? since : Math.min(since + parkedAtMostMs, last))
}

// Reads the header Retry-After, which is a number of seconds or a date.
export function retryAfterMs(text: string | null, now: Date): number {
  if (!text) return 0
  if (/^\d+$/.test(text.trim())) return Number(text) * second
  const date = Date.parse(text)
  return Number.isNaN(date) ? 0 : Math.max(0, date - now.getTime())
}
