// Detects overload by a timer: when the event loop is busy, the timer fires late.
const everyMs = 100
const weight = 0.2 // of the newest reading in the moving average
const maxReadingMs = 500 // one long turn is no overload, two are
const lateMs = 150

type Overload = { isOverloaded(): boolean; stop(): void }

export const smoothed = (mean: number, latest: number) =>
  mean + (Math.min(latest, maxReadingMs) - mean) * weight
export const isLate = (mean: number) => mean > lateMs

export function watchOverload(monotonicMs = () => performance.now()): Overload {
  let mean = 0
  let last = monotonicMs()
  const timer = setInterval(() => {
    const now = monotonicMs()
    mean = smoothed(mean, Math.max(0, now - last - everyMs))
    last = now
  }, everyMs)
  timer.unref()
  return { isOverloaded: () => isLate(mean), stop: () => clearInterval(timer) }
}
