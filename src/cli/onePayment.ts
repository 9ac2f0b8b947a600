import { findByWord } from '../actions/payments/explainPayment.ts'
import type { Payment } from '../core/payment/payment.ts'
import type { Db } from '../store/db.ts'
import { merchantOf } from './database.ts'
import { CannotDo } from './failure.ts'
import { paymentData, paymentTable } from './payment/text.ts'

// The one payment that an operator means by a reference or an invoice id.
export async function onePayment(db: Db, word: string, merchant_id?: string): Promise<Payment> {
  if (merchant_id) await merchantOf(db, merchant_id)
  const found = await findByWord(db, word, merchant_id)
  const [payment] = found
  if (!payment) throw new CannotDo('not_found', `No payment has the reference or invoice id ${word}.`)
  if (found.length > 1)
    throw new CannotDo(
      'ambiguous',
      `${found.length} payments have the invoice id ${word}: give --merchant, or the reference of one.`,
      { shown: paymentTable(found), data: { payments: found.map(paymentData) } },
    )
  return payment
}
