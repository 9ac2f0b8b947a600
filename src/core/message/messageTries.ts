import type { Message } from './message.ts'
import type { SendResult } from './messenger.ts'

const hour = 3_600_000

// The pause after each failed try; the last one is repeated.
export const pauses = [30, 60, 120, 300, 600, 1200, 2400, 3600].map(seconds => seconds * 1000)
export const messageWindowMs = 24 * hour // an older message confuses more than it helps
const jitterShare = 0.1 // spreads the retries of messages that failed together

// The time of the next try after one that ended at `now`; undefined if that is outside the window.
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

// A message whose result could not be saved may have arrived each time, so it is sent this often at most.
export const maxUnanswered = 3
export const unansweredReason = 'It was sent three times, and the result could not be saved.'

export const expiredReason = 'Could not be sent in 24 hours.'

// The columns that a try changes.
export type MessageUpdate = Pick<
  Message,
  'state' | 'words' | 'next_try_at' | 'sent_at' | 'provider_ref' | 'ended_at'
>

export const dropped = (reason: string, now: Date): MessageUpdate => ({
  state: 'dropped',
  words: reason,
  next_try_at: null,
  sent_at: null,
  provider_ref: null,
  ended_at: now,
})

// No messenger is configured, so it stays in the inbox.
export const keptInInbox = (now: Date): MessageUpdate => ({
  ...dropped('', now),
  state: 'sent',
  sent_at: now,
})

// It is being sent. It is due again at `dueAgain` if no result is saved before.
export const sending = (dueAgain: Date, now: Date): MessageUpdate => ({
  ...dropped('', now),
  state: 'queued',
  next_try_at: dueAgain,
  sent_at: now,
  ended_at: null,
})

export function applyResult(
  message: Pick<Message, 'created_at' | 'tries' | 'recipient'>,
  result: SendResult,
  now: Date,
  random: number,
): MessageUpdate {
  if (result.state === 'sent')
    return { ...dropped('', now), state: 'sent', sent_at: now, provider_ref: result.provider_ref ?? null }
  const reason = withoutRecipient(message.recipient, result.reason)
  if (result.state === 'rejected') return dropped(reason, now)
  const next_try_at = nextMessageTry(message, now, random, result.afterMs)
  return next_try_at
    ? { ...dropped(reason, now), state: 'queued', next_try_at, ended_at: null }
    : dropped(`${expiredReason} ${reason}`, now)
}

const maxReason = 200

// The operator gets the provider's reason, but not the recipient.
export const withoutRecipient = (recipient: string, reason: string) =>
  reason
    .replaceAll(/\s+/g, ' ')
    .replaceAll(new RegExp(literal(recipient.replace(/^\+/, '')), 'gi'), '...')
    .trim()
    .slice(0, maxReason)

const literal = (text: string) => text.replaceAll(/[^\w\s]/g, '\\$&')
