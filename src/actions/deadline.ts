// Rings when the time is over; gives back how to switch it off.
export type Timer = (ring: () => void) => () => void

export const timerOf =
  (ms: number): Timer =>
  ring => {
    const timer = setTimeout(ring, ms)
    return () => clearTimeout(timer)
  }

// Nobody waits for longer, even where the work goes on without an end; the signal tells it that nobody waits any more.
export function withinDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  timer: Timer,
  words: string,
): Promise<T> {
  const hangUp = new AbortController()
  return new Promise((resolve, reject) => {
    const switchOff = timer(() => {
      const late = new Error(words)
      reject(late)
      hangUp.abort(late)
    })
    const working = (async () => work(hangUp.signal))()
    void working.then(resolve, reject).finally(switchOff)
  })
}
