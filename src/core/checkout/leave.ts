import type { Payment } from '../payment/payment.ts'

type Ended = Pick<Payment, 'status' | 'updated_at' | 'cancel_wished_at'>

// A phone may sleep, or show the wallet's own page, while the payment ends: its page is still the one that saw it.
export const leaveWithinMs = 15 * 60_000
export const maxLeaves = 4 // visits of one payment: nobody has more screens open, and a link that is passed on is worth little

// When there was nothing left to do for the customer here. Money that comes later is another end.
export function endedAt({ status, updated_at, cancel_wished_at }: Ended): Date | undefined {
  return status === 'paid' || status === 'cancelled' ? updated_at : (cancel_wished_at ?? undefined)
}

// Whether a page that was open may go on to the shop by itself.
export function mayLeave(payment: Ended, now: Date): boolean {
  const ended = endedAt(payment)
  return ended !== undefined && now.getTime() - ended.getTime() < leaveWithinMs
}
