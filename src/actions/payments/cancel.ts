import { decideCancel } from '../../core/payment/customerActs.ts'
import { databaseDeadline, inTime } from '../../runtime/deadline.ts'
import type { CancelItem } from '../../runtime/paymentDecisions.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Tx } from '../../store/db.ts'
import { attemptsOfMany } from '../../store/payments/attempts.ts'
import { lockToEnd, type LockMode } from '../../store/payments/locks.ts'
import { byPaymentName, type PaymentKey, paymentName } from '../../store/payments/paymentKeys.ts'
import { type DecisionOutcome, oneFromEach, outcomeOf } from './groupTransactions.ts'
import { changeOf, type PaymentChange, type Write } from './writeChanges.ts'

// The customer cancels. A second time changes nothing.
export const cancel = (
  { decisions }: Pick<Runtime, 'decisions'>,
  { merchant_id, tx_reference }: PaymentKey,
  now: Date,
  deadline = databaseDeadline(),
): Promise<void> => inTime(deadline, decisions.cancel({ merchant_id, tx_reference, now }))

// The attempts are read by a second statement, behind the one that locks, so that it sees what was committed before the
// lock.
export async function cancelMany(tx: Tx, all: readonly CancelItem[], mode: LockMode, write: Write) {
  const items = oneFromEach(all).toSorted(byPaymentName)
  const locking = lockToEnd(tx, items, mode)
  const reading = attemptsOfMany(tx, items)
  reading.catch(() => {}) // if the lock fails, its error is thrown
  const locked = await locking
  const attempts = await reading
  const payments = new Map(locked.map(payment => [paymentName(payment), payment]))
  const changes: PaymentChange[] = []
  const outcomes = new Map<CancelItem, DecisionOutcome<void>>()
  for (const item of items) {
    const payment = payments.get(paymentName(item))
    if (!payment) continue
    const own = attempts.filter(attempt => paymentName(attempt) === paymentName(item))
    const outcome = outcomeOf(() => {
      const ended = decideCancel(payment, own, item.now)
      if (ended) changes.push(changeOf(payment, ended.payment, ended.events))
    })
    outcomes.set(item, outcome)
  }
  await write(changes)
  return outcomes
}
