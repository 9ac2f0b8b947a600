// Rings when the time is over; gives back how to switch it off.
export type Timer = (ring: () => void) => () => void

export const timerOf =
  (ms: number): Timer =>
  ring => {
    const timer = setTimeout(ring, ms)
    return () => clearTimeout(timer)
  }

// Nobody waits for longer, even where the work goes on without an end; the signal tells it that nobody waits any more.
// What it says to that at once is still heard: it may know that nothing has left yet.
export function withinDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  timer: Timer,
  words: string,
): Promise<T> {
  const hangUp = new AbortController()
  return new Promise((resolve, reject) => {
    const switchOff = timer(() => {
      const late = new Error(words)
      hangUp.abort(late)
      setImmediate(reject, late)
    })
    const working = (async () => work(hangUp.signal))()
    void working.then(resolve, reject).finally(switchOff)
  })
}
