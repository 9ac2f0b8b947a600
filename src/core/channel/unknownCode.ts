const toReport = 3 // attempts with the same unknown code
const quietMs = 3_600_000 // after a report
const maxRemembered = 100 // attempts: one that is asked about again counts once

// How often one unknown code of a provider was seen. Time is monotonic milliseconds.
export type CodeCount = {
  attempts: readonly string[] // the latest that were counted
  unreported: number
  quietUntil: number
}

export const nothingCounted: CodeCount = { attempts: [], unreported: 0, quietUntil: -Infinity }

// `isRepeated`: this attempt is the third with the code, so it raises a task. The same code raises no other for an hour.
export function countCode(count: CodeCount, attempt_id: string, now: number) {
  if (count.attempts.includes(attempt_id)) return { count, isRepeated: false }
  const attempts = [...count.attempts, attempt_id].slice(-maxRemembered)
  if (now < count.quietUntil) return { count: { ...count, attempts }, isRepeated: false }
  const isRepeated = count.unreported + 1 >= toReport
  return {
    count: isRepeated
      ? { attempts, unreported: 0, quietUntil: now + quietMs }
      : { ...count, attempts, unreported: count.unreported + 1 },
    isRepeated,
  }
}
