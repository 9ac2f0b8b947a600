import { cleanId, cleanText } from '../text.ts'
import type { Receipt, Sent } from './messenger.ts'

const maxWords = 1000 // enough to find the recipient in them; what is kept is shorter
const maxAfterMs = 24 * 3_600_000

// What a messenger brought from the other side becomes one of the answers that we know, fit to be written down.
// Whatever else it is, the message is tried again.
export function sanitizeSent(told: unknown): Sent {
  const { state, words, provider_ref, afterMs } = fieldsOf(told)
  if (state === 'sent') {
    const id = cleanId(provider_ref)
    return id === undefined ? { state } : { state, provider_ref: id }
  }
  if (state === 'never') return { state, words: wordsOf(words) }
  if (state === 'later')
    return {
      state,
      words: wordsOf(words),
      ...(isTime(afterMs) && { afterMs: Math.min(afterMs, maxAfterMs) }),
    }
  return { state: 'later', words: `The messenger answered ${cleanText(state ?? told, 40)}.` }
}

// Undefined when it says nothing about a message of ours.
export function sanitizeReceipt(told: unknown): Receipt | undefined {
  const { state, words, provider_ref } = fieldsOf(told)
  const id = cleanId(provider_ref)
  if (id === undefined || (state !== 'delivered' && state !== 'lost')) return undefined
  return { provider_ref: id, state, words: wordsOf(words) }
}

const fieldsOf = (told: unknown) =>
  (typeof told === 'object' && told !== null ? told : {}) as Readonly<Record<string, unknown>>

const wordsOf = (words: unknown) => (words === undefined || words === null ? '' : cleanText(words, maxWords))

const isTime = (ms: unknown): ms is number => typeof ms === 'number' && Number.isFinite(ms) && ms >= 0
