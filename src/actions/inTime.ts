import { Unavailable } from '../core/refusal.ts'

const databaseTimeMs = 5000 // for all that one request asks of the database
const providerPatienceMs = 3000 // after that the customer sees the page that waits

export const databaseDeadline = () => performance.now() + databaseTimeMs

// Work on the database whose parts it shares with others, up to a moment of the monotonic clock. What is under way then
// goes on: repeating the request finds it.
export async function inTime<T>(deadline: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const isLate = () => reject(new Unavailable('the database did not answer in time'))
    timer = setTimeout(isLate, deadline - performance.now())
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

// A provider may be slow, and nobody looks at an empty page for that: its answer is awaited for a moment, and found by
// whoever asks about the attempt when it comes later.
export async function forAMoment(work: Promise<unknown>) {
  let timer: NodeJS.Timeout | undefined
  const later = new Promise<void>(resolve => {
    timer = setTimeout(resolve, providerPatienceMs)
  })
  try {
    await Promise.race([work, later])
  } finally {
    clearTimeout(timer)
  }
}
