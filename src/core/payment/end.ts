import { reasons } from '../provider/reason.ts'
import { decimalsOf } from '../money.ts'
import { type Attempt, isUnresolved } from './attempt.ts'
import { event, statusEvent } from './change.ts'
import type { NewEvent } from './event.ts'
import { move, type Payment } from './payment.ts'

export type Ended = { payment: Payment; events: NewEvent[] }

// The customer cancels. While an attempt is unresolved this is a wish: the money may be on its way.
export function cancel(payment: Payment, attempts: readonly Attempt[], now: Date): Ended | undefined {
  const unresolved = attempts.find(isUnresolved)
  if (unresolved) {
    if (payment.cancel_requested_at || payment.status !== 'awaiting_payment') return undefined
    const wished = { ...payment, cancel_requested_at: now, updated_at: now }
    return { payment: wished, events: [event('cancel_wished', 'customer', unresolved, '', now)] }
  }
  const moved = move(payment, 'cancelled', reasons.cancelled, now)
  return moved && { payment: moved, events: [statusEvent(payment, moved, 'customer', null, now)] }
}

// The time is over. Never while an attempt is unresolved, and never undoing anything.
export function expire(payment: Payment, attempts: readonly Attempt[], now: Date): Ended | undefined {
  if (payment.status !== 'awaiting_payment' || payment.expires_at > now) return undefined
  if (attempts.some(isUnresolved)) return undefined
  decimalsOf(payment.currency) // throws where a newer version has written it: to end it would tell a wrong amount
  const moved = move(payment, 'failed', reasons.expired, now)
  return moved && { payment: moved, events: [statusEvent(payment, moved, 'clock', null, now)] }
}
