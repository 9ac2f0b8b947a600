import { type Attempt, isUnresolved } from './attempt.ts'
import { event, statusEvent } from './change.ts'
import type { NewEvent } from './event.ts'
import { type LivingPayment, move } from './payment.ts'
import { reasons } from './reason.ts'

export type Ended = { payment: LivingPayment; events: NewEvent[] }

// The customer cancels. While an attempt is unresolved this is a wish: the money may be on its way.
export function cancel(payment: LivingPayment, attempts: readonly Attempt[], now: Date): Ended | undefined {
  const unresolved = attempts.find(isUnresolved)
  if (unresolved) {
    if (payment.cancel_wished_at || payment.status !== 'awaiting_payment') return undefined
    const wished = { ...payment, cancel_wished_at: now, updated_at: now }
    return { payment: wished, events: [event('cancel_wished', 'customer', unresolved, '', now)] }
  }
  const moved = move(payment, 'cancelled', reasons.cancelled, now)
  return moved && { payment: moved, events: [statusEvent(payment, moved, 'customer', null, now)] }
}

// The time is over. Never while an attempt is unresolved, and never undoing anything.
export function expire(payment: LivingPayment, attempts: readonly Attempt[], now: Date): Ended | undefined {
  if (payment.status !== 'awaiting_payment' || payment.expires_at > now) return undefined
  if (attempts.some(isUnresolved)) return undefined
  const moved = move(payment, 'failed', reasons.expired, now)
  return moved && { payment: moved, events: [statusEvent(payment, moved, 'clock', null, now)] }
}
