import { cleanText } from '../text.ts'

// Codes of a provider that its module does not know. Operators see masked samples of them. A code that three attempts got
// is worth an operator task: it may be a refusal that should be mapped to a reason. Time is monotonic milliseconds.
const attemptsToReport = 3
const quietMs = 3_600_000 // no second report of the same code within this time
const maxRemembered = 100 // attempts, so that an attempt that is polled repeatedly counts once
const mostSamples = 10 // further ones are counted as `others`
const mostCodes = 20 // whose attempts are counted; then the least recent one is removed

export type UnknownCodeCount = { sample: string; count: number }
type AttemptCount = { attempts: readonly string[]; unreported: number; quietUntil: number }
export type CodeAttempts = ReadonlyMap<string, AttemptCount> // by code, the most recent one last

export function countSample(samples: readonly UnknownCodeCount[], code: string): UnknownCodeCount[] {
  const masked = maskedSample(code)
  const hasRoom = samples.length < mostSamples || samples.some(({ sample }) => sample === masked)
  return sumSamples([...samples, { sample: hasRoom ? masked : 'others', count: 1 }])
}

// `isRepeated`: this attempt is the third with the code, so it raises a task.
export function countCode(codes: CodeAttempts, code: string, attempt_id: string, now: number) {
  const former = codes.get(code) ?? { attempts: [], unreported: 0, quietUntil: -Infinity }
  const { count, isRepeated } = countAttempt(former, attempt_id, now)
  const others = [...codes].filter(([name]) => name !== code)
  return { codes: new Map([...others, [code, count] as const].slice(-mostCodes)), isRepeated }
}

function countAttempt(count: AttemptCount, attempt_id: string, now: number) {
  if (count.attempts.includes(attempt_id)) return { count, isRepeated: false }
  const attempts = [...count.attempts, attempt_id].slice(-maxRemembered)
  if (now < count.quietUntil) return { count: { ...count, attempts }, isRepeated: false }
  const unreported = count.unreported + 1
  return unreported >= attemptsToReport
    ? { count: { attempts, unreported: 0, quietUntil: now + quietMs }, isRepeated: true }
    : { count: { ...count, attempts, unreported }, isRepeated: false }
}

// The most frequent ones first.
export function sumSamples(samples: readonly UnknownCodeCount[]): UnknownCodeCount[] {
  const counts = new Map<string, number>()
  for (const { sample, count } of samples) counts.set(sample, (counts.get(sample) ?? 0) + count)
  return [...counts].map(([sample, count]) => ({ sample, count })).toSorted((a, b) => b.count - a.count)
}

const maxSample = 60

// The code as operators see it. It is untrusted text: digits, addresses and anything that looks like a key are masked.
export const maskedSample = (code: string): string =>
  cleanText(code, maxSample * 4)
    .replace(/\S+@\S+/g, '***')
    .replace(/\b(bearer|basic|token|secret|password|key)\b(["':=\s]+)\S+/gi, '$1$2***')
    .replace(/\b[sp]k_\S+/gi, '***')
    .replace(/[\w+/=.-]{8,}/g, part => (isLikeKey(part) ? '***' : part))
    .replace(/\d+/g, '#')
    .slice(0, maxSample)

// Letters mixed with digits, or a long word in mixed case. Identifiers (NOT_ALLOWED, TIER_7_BLOCKED, payerNotFound) are
// not keys.
const isLikeKey = (part: string) =>
  (/\d/.test(part) && /[a-z]/i.test(part) && !isCode(part)) ||
  (part.length >= 30 && /[a-z]/.test(part) && /[A-Z]/.test(part))

const isCode = (part: string) => /^[A-Z]+(_([A-Z]+|\d{1,3}))+$/.test(part)
