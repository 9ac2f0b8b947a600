import { maxRedirects, mayRedirect } from '../../core/checkout/stage.ts'
import { Unavailable } from '../../core/interface/refusal.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { Db } from '../../store/db.ts'
import { recordRedirect } from '../../store/payments/redirects.ts'

// Whether this visit goes on to the shop by itself: the one in which the customer saw the payment end, and no later one.
// The pages before it gave it a name, which is good for once. What an address says anybody can write, so a name counts
// for little: for a while after the end, and for a few visits of one payment.
export async function redirectOnce(
  db: Db,
  payment: Omit<Payment, 'line_items'>,
  visit: string | undefined,
  now: Date,
): Promise<boolean> {
  if (visit === undefined || !mayRedirect(payment, now)) return false
  try {
    return (await recordRedirect(db.withQuota('leave'), payment, visit, maxRedirects)) === 1
  } catch (error) {
    if (error instanceof Unavailable) return false // the result is worth more than the way on, which has a button
    throw error
  }
}
