import { Unavailable } from '../core/refusal.ts'

const databaseTimeMs = 5000 // for all that one request asks of the database
const providerPatienceMs = 3000 // after that the customer sees the page that waits

export const databaseDeadline = () => performance.now() + databaseTimeMs

// Work on the database whose parts it shares with others, up to a moment of the monotonic clock. What is under way then
// goes on: repeating the request finds it.
export const inTime = <T>(deadline: number, work: Promise<T>): Promise<T> =>
  orLater(work, deadline - performance.now(), () => {
    throw new Unavailable('the database did not answer in time')
  })

// A provider may be slow, and nobody looks at an empty page for that: its answer is awaited for a moment, and found by
// whoever asks about the attempt when it comes later.
export const forAMoment = (work: Promise<unknown>): Promise<unknown> =>
  orLater(work, providerPatienceMs, () => undefined)

async function orLater<T>(work: Promise<T>, ms: number, later: () => T): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms)
  })
  try {
    return await Promise.race([work, over.then(later)])
  } finally {
    clearTimeout(timer)
  }
}
