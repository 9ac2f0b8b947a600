import type { Reversal } from '../channel/reply.ts'
import { moneyNumber } from '../money.ts'
import type { Attempt } from '../payment/attempt.ts'
import type { Payment } from '../payment/payment.ts'

// What the feed says of money that went back. It is no change of the status: the payment stays paid.
export const reversalBody = (payment: Payment, attempt: Attempt, { kind, words }: Reversal, now: Date) =>
  JSON.stringify({
    type: kind,
    invoice_id: payment.invoice_id,
    tx_reference: payment.tx_reference,
    status: payment.status,
    amount: moneyNumber(attempt.charged ?? payment.total, payment.currency),
    currency: payment.currency,
    reason: words,
    payment_method: attempt.payment_method,
    payment_reference: attempt.provider_ref,
    at: now.toISOString(),
  })
