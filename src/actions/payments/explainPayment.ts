import type { Lang } from '../../core/languages/languages.ts'
import { readMerchantSettings } from '../../core/merchant/settings.ts'
import type { Payment } from '../../core/payment/payment.ts'
import { parseReference } from '../../core/payment/reference.ts'
import type { PaymentHistory } from '../../core/timeline/history.ts'
import { type Timeline, timeline } from '../../core/timeline/timeline.ts'
import { isPlainText } from '../../core/text.ts'
import type { Db } from '../../store/db.ts'
import { findMerchant } from '../../store/merchants/merchants.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import { eventsOf } from '../../store/payments/events.ts'
import { tasksOf } from '../../store/payments/tasks.ts'
import { refundsOfPayment } from '../../store/refunds/merchantRefunds.ts'
import { searchEverywhere } from './findPayments.ts'

const maxTextLength = 200 // longer than any reference or invoice id

const invisible = /[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g // characters that copied text may contain

// Finds payments by a reference or an invoice id, newest first. Of one merchant a reference is exact: an invoice id that
// looks like it does not count.
export async function findByReferenceOrInvoice(
  db: Db,
  text: string,
  merchant_id?: string,
): Promise<Payment[]> {
  const typed = text.replace(invisible, '').trim()
  if (typed === '' || typed.length > maxTextLength || !isPlainText(typed + (merchant_id ?? ''))) return []
  const reference = parseReference(typed)
  const found = reference ? await searchEverywhere(db, reference, merchant_id) : []
  if (found.length === 0 && reference !== typed)
    found.push(...(await searchEverywhere(db, typed, merchant_id)))
  const exact = merchant_id ? found.filter(({ tx_reference }) => tx_reference === reference) : []
  return (exact.length > 0 ? exact : found).sort((a, b) => b.created_at.getTime() - a.created_at.getTime())
}

export type Explained = PaymentHistory & Timeline

// The history of a payment and its timeline. Not one snapshot: the payment may be a moment older than the rest.
export async function explainPayment(
  db: Db,
  payment: Payment,
  now: Date,
  lang: Lang = 'en',
): Promise<Explained> {
  const { merchant_id, tx_reference } = payment
  const [merchant, attempts, events, tasks, refunds] = await Promise.all([
    findMerchant(db, merchant_id),
    attemptsOf(db, merchant_id, tx_reference),
    eventsOf(db, merchant_id, tx_reference),
    tasksOf(db, merchant_id, tx_reference),
    refundsOfPayment(db, payment),
  ])
  if (!merchant) throw new Error('a payment without its merchant')
  const { name, active } = merchant
  const history: PaymentHistory = {
    payment,
    merchant: { name, active, settings: readMerchantSettings(merchant.settings) },
    attempts,
    events,
    tasks,
    refunds,
  }
  return { ...history, ...timeline(history, now, lang) }
}
