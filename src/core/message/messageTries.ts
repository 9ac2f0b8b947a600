import type { Message } from './message.ts'
import type { Sent } from './messenger.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

// The pause after each try that came to nothing; the last one is repeated.
export const pauses = [
  30 * second,
  minute,
  2 * minute,
  5 * minute,
  10 * minute,
  20 * minute,
  40 * minute,
  hour,
] as const
export const messageWindowMs = 24 * hour // what comes later confuses more than it helps
export const jitterShare = 0.1 // so that what failed together does not come together

// When to try again after a try that ended at `now`; undefined when the day is over by then.
export function nextMessageTry(
  { created_at, tries }: Pick<Message, 'created_at' | 'tries'>,
  now: Date,
  random: number,
  afterMs = 0,
): Date | undefined {
  const pause = pauses[Math.min(Math.max(tries, 1), pauses.length) - 1] as number
  const next = now.getTime() + Math.max(pause * (1 + random * jitterShare), afterMs)
  return next < created_at.getTime() + messageWindowMs ? new Date(next) : undefined
}

// What came of it could not be written down, so often: whoever got it has had it often enough.
export const maxUnanswered = 3
export const unansweredWords = 'It left three times, and what came of it could not be written down.'

export const lateWords = 'Could not be sent in 24 hours.'

// How a message stands, between tries and after the last.
export type Ending = Pick<
  Message,
  'state' | 'words' | 'next_try_at' | 'sent_at' | 'provider_ref' | 'ended_at'
>

export const dropped = (words: string, now: Date): Ending => ({
  state: 'dropped',
  words,
  next_try_at: null,
  sent_at: null,
  provider_ref: null,
  ended_at: now,
})

// It stays in the inbox of the house.
export const kept = (now: Date): Ending => ({ ...dropped('', now), state: 'sent', sent_at: now })

// It is being sent; when nobody says what came of it, it is due again.
export const leaving = (dueAgain: Date, now: Date): Ending => ({
  ...dropped('', now),
  state: 'queued',
  next_try_at: dueAgain,
  sent_at: now,
  ended_at: null,
})

export function endingOf(
  message: Pick<Message, 'created_at' | 'tries' | 'recipient'>,
  sent: Sent,
  now: Date,
  random: number,
): Ending {
  if (sent.state === 'sent')
    return {
      state: 'sent',
      words: '',
      next_try_at: null,
      sent_at: now,
      provider_ref: sent.provider_ref ?? null,
      ended_at: now,
    }
  const words = wordsWithout(message.recipient, sent.words)
  if (sent.state === 'never') return dropped(words, now)
  const next_try_at = nextMessageTry(message, now, random, sent.afterMs)
  return next_try_at
    ? { ...dropped(words, now), state: 'queued', next_try_at, ended_at: null }
    : dropped(`${lateWords} ${words}`, now)
}

const maxWords = 200

// What a provider says is kept for the operator, who need not know who the recipient was.
export const wordsWithout = (recipient: string, words: string) =>
  words
    .replaceAll(/\s+/g, ' ')
    .replaceAll(new RegExp(literal(recipient.replace(/^\+/, '')), 'gi'), '...')
    .trim()
    .slice(0, maxWords)

const literal = (text: string) => text.replaceAll(/[^\w\s]/g, '\\$&')
