import { readMerchantSettings } from '../../../core/merchant/settings.ts'
import type { Attempt } from '../../../core/payment/attempt.ts'
import type { Cause } from '../../../core/payment/change.ts'
import { decideBegin as start } from '../../../core/payment/customerActs.ts'
import { fillsCap, type Refused, secondsToCool, whyNotBegin } from '../../../core/payment/mayStart.ts'
import type { Tx } from '../../../store/db.ts'
import { type Beginning, lockToBegin, type Patience, type ToBegin } from '../../../store/payments/locks.ts'
import { paymentName } from '../../../store/payments/paymentKeys.ts'
import type { PaymentWithMerchant } from '../../../store/payments/paymentLife.ts'
import { byName, type DecisionOutcome, eachMerchant, oneFromEach, outcomeOf } from './groupTransactions.ts'
import { changeOf, type PaymentChange } from './saveChange.ts'
import type { Write } from './writing.ts'

export type BeginItem = Beginning & { attempt: Attempt; cause: Cause }
export type Begun = { done: 'begun'; payment?: PaymentWithMerchant } | ({ done: 'refused' } & Refused)

// The caps that an attempt counts against, by wallet and by payer.
const capsOf = ({ merchant_id, attempt: { instrument, payer } }: BeginItem) => ({
  instrument: instrument === null ? undefined : `${merchant_id} instrument ${instrument}`,
  payer: payer === null ? undefined : `${merchant_id} payer ${payer}`,
})

// A transaction does not see what others have not committed yet, so each of those that run at once could fill a cap by
// itself. One process therefore never begins attempts of the same wallet or payer in two batches at once. Processes do not
// coordinate: with n nodes a burst can reach n times the cap within the time of one transaction. An item that is decided
// alone, because its payment was locked, can add one more while it runs beside a batch.
export const cappedBy = (item: BeginItem): string[] =>
  Object.values(capsOf(item)).filter(cap => cap !== undefined)

// Run again after a lost commit, it finds its own attempt and goes on.
export async function beginMany(tx: Tx, items: readonly BeginItem[], patience: Patience, write: Write) {
  const firsts = oneFromEach(items)
  const held = await eachMerchant(firsts, (merchant_id, some) => lockToBegin(tx, merchant_id, some, patience))
  const payments = new Map(held.map(payment => [paymentName(payment), payment]))
  const begun = new Map<string, PaymentChange>()
  const begunAt = new Map<string, Date[]>() // by cap, in the order of arrival
  const outcomes = new Map<BeginItem, DecisionOutcome<Begun>>()
  for (const item of items) {
    const payment = payments.get(paymentName(item))
    const change = begun.get(paymentName(item))
    if (payment && (change || firsts.includes(item)))
      outcomes.set(
        item,
        outcomeOf(() => decide(withBegun(payment, change), item, begun, begunAt)),
      )
  }
  write([...begun.values()].toSorted((a, b) => byName(a.before, b.before)))
  return outcomes
}

// Clicks that come together find the attempt that the first of them has begun.
const withBegun = (payment: ToBegin, change: PaymentChange | undefined): ToBegin =>
  change?.begun ? { ...payment, attempts: [...payment.attempts, change.begun] } : payment

function decide(
  { attempts, failures, ...payment }: ToBegin,
  item: BeginItem,
  changes: Map<string, PaymentChange>,
  begunAt: Map<string, Date[]>,
): Begun {
  const { attempt, cause, most } = item
  const same = attempts.find(({ number }) => number === attempt.number)
  if (same) return { done: 'begun', payment: same.attempt_id === attempt.attempt_id ? payment : undefined }
  const now = attempt.created_at
  const merchant = {
    active: payment.merchant_active,
    settings: readMerchantSettings(payment.merchant_settings),
  }
  const refused = whyNotBegin(payment, attempts, merchant, attempt.number, now)
  if (refused) return { done: 'refused', ...refused }
  const caps = capsOf(item)
  const fills = (whose: keyof typeof caps) =>
    fillsCap(failures[whose], begunAt.get(caps[whose] ?? '') ?? [], most[whose])
  const seconds = secondsToCool({ instrument: fills('instrument'), payer: fills('payer') }, now)
  if (seconds > 0) return { done: 'refused', obstacle: 'too_many', seconds }
  const begun = start(payment, attempt, cause)
  changes.set(paymentName(payment), { ...changeOf(payment, begun.payment, begun.events), begun: attempt })
  for (const cap of cappedBy(item)) begunAt.set(cap, [...(begunAt.get(cap) ?? []), now])
  return { done: 'begun', payment: begun.payment }
}
