import { decideCancel as decide } from '../../../core/payment/customerActs.ts'
import type { Tx } from '../../../store/db.ts'
import { attemptsOfMany } from '../../../store/payments/expired.ts'
import { lockToEnd, type Patience } from '../../../store/payments/locks.ts'
import { type PaymentKey, paymentName } from '../../../store/payments/paymentKeys.ts'
import { byName, type DecisionOutcome, eachMerchant, oneFromEach, outcomeOf } from './groupTransactions.ts'
import { changeOf, type PaymentChange } from './saveChange.ts'
import type { Write } from './writing.ts'

export type CancelItem = PaymentKey & { now: Date }

// The attempts are read by a statement of its own, behind the one that locks: it sees what was committed before the lock.
export async function cancelMany(tx: Tx, all: readonly CancelItem[], patience: Patience, write: Write) {
  const items = oneFromEach(all).toSorted(byName)
  const locking = eachMerchant(items, (merchant_id, some) =>
    lockToEnd(
      tx,
      merchant_id,
      some.map(({ tx_reference }) => tx_reference),
      patience,
    ),
  )
  const reading = attemptsOfMany(tx, items)
  reading.catch(() => {}) // where the lock is refused, that is what counts
  const held = await locking
  const attempts = await reading
  const payments = new Map(held.map(payment => [paymentName(payment), payment]))
  const changes: PaymentChange[] = []
  const outcomes = new Map<CancelItem, DecisionOutcome<void>>()
  for (const item of items) {
    const payment = payments.get(paymentName(item))
    if (!payment) continue
    const own = attempts.filter(attempt => paymentName(attempt) === paymentName(item))
    const outcome = outcomeOf(() => {
      const ended = decide(payment, own, item.now)
      if (ended) changes.push(changeOf(payment, ended.payment, ended.events))
    })
    outcomes.set(item, outcome)
  }
  write(changes)
  return outcomes
}
