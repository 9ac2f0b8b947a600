import { Unavailable } from '../core/interface/refusal.ts'

// Every wait has a limit. Deadlines are times of the monotonic clock, performance.now().

export const requestMs = 4500 // for all database work of one request, so that it is answered within 5 seconds
const sharedMs = 4300 // for a statement that many requests share: it fails before their own deadlines
const providerMs = 3000 // then the customer sees the waiting page

export const databaseDeadline = () => performance.now() + requestMs
export const sharedDeadline = () => performance.now() + sharedMs

// For database work that a request shares with others. The work itself continues: if the request is repeated, it finds the
// result.
export const inTime = <T>(deadline: number, work: Promise<T>): Promise<T> =>
  orLate(work, deadline - performance.now(), (_, reject) =>
    reject(new Unavailable('the database did not answer in time')),
  )

// For a call to a provider that a customer waits for. A later reply is stored, too, and the next poll of the page shows it.
export const withShortDeadline = (work: Promise<unknown>): Promise<unknown> =>
  orLate(work, providerMs, resolve => resolve(undefined))

type Late<T> = (resolve: (result: T) => void, reject: (error: unknown) => void) => void

// Cheaper than Promise.race; every request uses it.
function orLate<T>(work: Promise<T>, ms: number, late: Late<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(late, ms, resolve, reject)
    work.then(
      result => {
        clearTimeout(timer)
        resolve(result)
      },
      (error: unknown) => {
        clearTimeout(timer)
        reject(error)
      },
    )
  })
}

// Calls `onEnd` when the time is over. Returns a function that cancels it.
export type Timer = (onEnd: () => void) => () => void

export const timerOf =
  (ms: number): Timer =>
  onEnd => {
    const timer = setTimeout(onEnd, ms)
    return () => clearTimeout(timer)
  }

// Rejects with `message` when the timer ends, even if the work never does, and aborts the work's signal. If the work then
// rejects immediately, its own error is thrown: it may show that nothing was sent.
export function withinDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  timer: Timer,
  message: string,
): Promise<T> {
  const controller = new AbortController()
  return new Promise((resolve, reject) => {
    const cancel = timer(() => {
      const late = new Error(message)
      controller.abort(late)
      setImmediate(reject, late)
    })
    const working = (async () => work(controller.signal))()
    void working.then(resolve, reject).finally(cancel)
  })
}
