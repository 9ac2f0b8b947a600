// Detects overload by a timer: when the event loop is busy, the timer fires late. It also fires late in an idle process that
// the machine does not run, because other programs use its processors or it was paused. That is no overload: nothing waits.
// So lateness counts only as far as the loop was busy meanwhile.
const everyMs = 100
const weight = 0.2 // of the newest reading in the moving average
const maxReadingMs = 500 // one long turn is no overload, two are
const lateMs = 150

type Overload = { isOverloaded(): boolean; stop(): void }

export const readingOf = (delayMs: number, busyMs: number) => Math.max(0, Math.min(delayMs, busyMs))
export const smoothed = (mean: number, latest: number) =>
  mean + (Math.min(latest, maxReadingMs) - mean) * weight
export const isLate = (mean: number) => mean > lateMs

export function watchOverload(monotonicMs = () => performance.now()): Overload {
  let mean = 0
  let last = monotonicMs()
  let busy = performance.eventLoopUtilization().active
  const timer = setInterval(() => {
    const now = monotonicMs()
    const { active } = performance.eventLoopUtilization()
    mean = smoothed(mean, readingOf(now - last - everyMs, active - busy))
    last = now
    busy = active
  }, everyMs)
  timer.unref()
  return { isOverloaded: () => isLate(mean), stop: () => clearInterval(timer) }
}
