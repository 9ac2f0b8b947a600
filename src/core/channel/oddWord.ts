import { cleanText } from '../stranger.ts'

const maxSample = 60

// What a provider said that we do not know, for the operator to read. It came from outside and may have anything in it: so
// digits, addresses and whatever looks like a key are masked before it is kept anywhere.
export const sampleOf = (word: string): string =>
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
