import type { Reversal } from '../channel/reply.ts'
import type { Attempt } from './attempt.ts'
import { type Change, event, task } from './change.ts'
import type { Payment } from './payment.ts'

// Money that was paid went back. The payment stays what it is: whether that is right, is fought for or is a loss is for a
// person. Whoever saves it does so once for each kind: providers repeat themselves.
export function reverse<P extends Payment>(
  payment: P,
  attempt: Attempt,
  { kind, words }: Reversal,
  now: Date,
): Change & { payment: P } {
  const amount = attempt.charged ?? payment.total
  return {
    payment: { ...payment, reversed_at: payment.reversed_at ?? now, updated_at: now },
    attempt,
    events: [event(kind, 'channel', attempt, words, now)],
    tasks: [task(payment, attempt, kind, { amount, currency: payment.currency }, words, now)],
  }
}
