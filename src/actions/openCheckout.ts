import type { Payment } from '../core/payment.ts'
import type { Db } from '../store/db.ts'
import { findPaymentByToken } from '../store/payments.ts'
import { merchantOfToken } from './ids.ts'

export type Checkout = Payment & { merchant_name: string; expired: boolean }

// The payment behind a checkout address, or undefined.
export async function openCheckout(db: Db, token: string, now: Date): Promise<Checkout | undefined> {
  if (!/^[0-9a-z]{42}$/.test(token)) return undefined
  const payment = await findPaymentByToken(db, merchantOfToken(token), token)
  if (!payment) return undefined
  return { ...payment, expired: payment.status === 'awaiting_payment' && payment.expires_at <= now }
}
