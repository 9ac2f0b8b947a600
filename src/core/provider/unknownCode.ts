import { cleanText } from '../text.ts'

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

const maxSample = 60

// What a provider said that we do not know, for the operator to read. It came from outside and may have anything in it: so
// digits, addresses and whatever looks like a key are masked before it is kept anywhere.
export const maskedSample = (word: string): string =>
  cleanText(word, maxSample * 4)
    .replace(/\S+@\S+/g, '***')
    .replace(/\b(bearer|basic|token|secret|password|key)\b(["':=\s]+)\S+/gi, '$1$2***')
    .replace(/\b[sp]k_\S+/gi, '***')
    .replace(/[\w+/=.-]{8,}/g, part => (isLikeKey(part) ? '***' : part))
    .replace(/\d+/g, '#')
    .slice(0, maxSample)

// Letters and digits together, or a long word in capitals and small letters at once. Words in the spelling of programs
// (NOT_ALLOWED, TIER_7_BLOCKED, payerNotFound) are none.
const isLikeKey = (part: string) =>
  (/\d/.test(part) && /[a-z]/i.test(part) && !isCode(part)) ||
  (part.length >= 30 && /[a-z]/.test(part) && /[A-Z]/.test(part))

const isCode = (part: string) => /^[A-Z]+(_([A-Z]+|\d{1,3}))+$/.test(part)
