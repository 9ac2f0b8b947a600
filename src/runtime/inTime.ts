import { Unavailable } from '../core/interface/refusal.ts'

const databaseTimeMs = 5000 // for all that one request asks of the database
const sharedTimeMs = 4800 // for a statement that many share: it ends before whoever waits for it is told
const providerPatienceMs = 3000 // after that the customer sees the page that waits

export const databaseDeadline = () => performance.now() + databaseTimeMs
export const sharedDeadline = () => performance.now() + sharedTimeMs

// Work on the database whose parts it shares with others, up to a moment of the monotonic clock. What is under way then
// goes on: repeating the request finds it.
export const inTime = <T>(deadline: number, work: Promise<T>): Promise<T> =>
  orLate(work, deadline - performance.now(), (_, reject) =>
    reject(new Unavailable('the database did not answer in time')),
  )

// A provider may be slow, and nobody looks at an empty page for that: its answer is awaited for a moment, and found by
// whoever asks about the attempt when it comes later.
export const withShortDeadline = (work: Promise<unknown>): Promise<unknown> =>
  orLate(work, providerPatienceMs, resolve => resolve(undefined))

type Late<T> = (resolve: (result: T) => void, reject: (error: unknown) => void) => void

// By hand and not by Promise.race: every request passes here.
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
