import { moneyNumber } from '../money.ts'
import type { Attempt } from '../payment/attempt.ts'
import type { MoneyBackNotice } from '../payment/change.ts'
import type { Payment } from '../payment/payment.ts'

// What the feed says of a refund or a dispute. The status does not change: the payment stays paid.
export const moneyBackBody = (payment: Payment, attempt: Attempt, notice: MoneyBackNotice) =>
  JSON.stringify({
    type: notice.type,
    invoice_id: payment.invoice_id,
    tx_reference: payment.tx_reference,
    status: payment.status,
    amount: moneyNumber(notice.amount, payment.currency),
    currency: payment.currency,
    reason: notice.reason,
    payment_method: attempt.payment_method,
    payment_reference: attempt.provider_ref,
    at: notice.at.toISOString(),
  })
