import type { Payment } from '../payment/payment.ts'

type Ended = Pick<Payment, 'status' | 'updated_at' | 'cancel_requested_at'>

// A phone may sleep, or show the wallet's own page, while the payment ends. Within this time its page still counts as
// the one that saw it end.
const leaveWithinMs = 15 * 60_000
export const maxLeaves = 4 // redirects of one payment: enough for several open screens, and of little use to somebody with a shared link

// When nothing was left to do for the customer. A late payment moves it.
export function endedAt({ status, updated_at, cancel_requested_at }: Ended): Date | undefined {
  return status === 'paid' || status === 'cancelled' ? updated_at : (cancel_requested_at ?? undefined)
}

// Whether an open page may redirect to the shop.
export function mayLeave(payment: Ended, now: Date): boolean {
  const ended = endedAt(payment)
  return ended !== undefined && now.getTime() - ended.getTime() < leaveWithinMs
}
