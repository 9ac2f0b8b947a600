import { readSettings } from '../../../core/merchant/settings.ts'
import type { Attempt } from '../../../core/payment/attempt.ts'
import { begin as start } from '../../../core/payment/begin.ts'
import type { Cause } from '../../../core/payment/event.ts'
import { type Refused, secondsToCool, whyNotStart } from '../../../core/payment/mayStart.ts'
import type { Tx } from '../../../store/db.ts'
import { type Beginning, lockToBegin, type Patience, type ToBegin } from '../../../store/payments/locks.ts'
import { paymentName } from '../../../store/payments/paymentKeys.ts'
import type { PaymentWithMerchant } from '../../../store/payments/paymentLife.ts'
import { changeOf, type PaymentChange } from './saveChange.ts'
import { eachMerchant, firstOfEach, type Outcome, outcomeOf } from './sharing.ts'
import type { Write } from './writing.ts'

export type BeginItem = Beginning & { attempt: Attempt; cause: Cause }
export type Begun = { done: 'begun'; payment?: PaymentWithMerchant } | ({ done: 'refused' } & Refused)

// Run again after a lost commit, it finds its own attempt and goes on.
export async function begin(tx: Tx, items: readonly BeginItem[], patience: Patience, write: Write) {
  const firsts = firstOfEach(items)
  const held = await eachMerchant(firsts, (merchant_id, some) => lockToBegin(tx, merchant_id, some, patience))
  const payments = new Map(held.map(payment => [paymentName(payment), payment]))
  const begun = new Map<string, PaymentChange>()
  const outcomes = new Map<BeginItem, Outcome<Begun>>()
  for (const item of items) {
    const payment = payments.get(paymentName(item))
    const change = begun.get(paymentName(item))
    if (payment && (change || firsts.includes(item)))
      outcomes.set(
        item,
        outcomeOf(() => decide(withBegun(payment, change), item, begun)),
      )
  }
  write([...begun.values()])
  return outcomes
}

// Clicks that come together find the attempt that the first of them has begun.
const withBegun = (payment: ToBegin, change: PaymentChange | undefined): ToBegin =>
  change?.begun ? { ...payment, attempts: [...payment.attempts, change.begun] } : payment

function decide(
  { attempts, failures, ...payment }: ToBegin,
  { attempt, cause }: BeginItem,
  changes: Map<string, PaymentChange>,
): Begun {
  const same = attempts.find(({ number }) => number === attempt.number)
  if (same) return { done: 'begun', payment: same.attempt_id === attempt.attempt_id ? payment : undefined }
  const now = attempt.created_at
  const merchant = { active: payment.merchant_active, settings: readSettings(payment.merchant_settings) }
  const refused = whyNotStart(payment, attempts, merchant, attempt.number, now)
  if (refused) return { done: 'refused', ...refused }
  const seconds = secondsToCool(failures, now)
  if (seconds > 0) return { done: 'refused', obstacle: 'too_many', seconds }
  const begun = start(payment, attempt, cause)
  changes.set(paymentName(payment), { ...changeOf(payment, begun.payment, begun.events), begun: attempt })
  return { done: 'begun', payment: begun.payment }
}
