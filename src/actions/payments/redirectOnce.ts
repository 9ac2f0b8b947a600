import { maxRedirects, mayRedirect } from '../../core/checkout/stage.ts'
import { Unavailable } from '../../core/interface/refusal.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { Db } from '../../store/db.ts'
import { changeOf, changeOne } from './writeChanges.ts'

// Whether this visit is redirected to the shop: only the visit in which the customer saw the payment end, and only once. The
// pages before the end gave the visit its name. Anybody can write an address, so a name is accepted for a limited time after
// the end, and for a few visits of one payment.
export async function redirectOnce(
  db: Db,
  payment: Omit<Payment, 'line_items'>,
  visit: string | undefined,
  now: Date,
): Promise<boolean> {
  if (visit === undefined || !mayRedirect(payment, now)) return false
  const redirecting = changeOne(db.withQuota('leave'), {}, payment, async (_, locked) => {
    const { left_by } = locked
    if (left_by.includes(visit) || left_by.length >= maxRedirects) return { answer: false }
    return { answer: true, change: { ...changeOf(locked, locked, []), visit } }
  })
  try {
    return (await redirecting) ?? false
  } catch (error) {
    if (error instanceof Unavailable) return false // the page has a button that leads to the shop
    throw error
  }
}
