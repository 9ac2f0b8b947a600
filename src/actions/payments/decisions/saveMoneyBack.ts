import { moneyBackBody } from '../../../core/notification/moneyBack.ts'
import type { Change } from '../../../core/payment/change.ts'
import type { Tx } from '../../../store/db.ts'
import { addNotification } from '../../../store/notifications/notifications.ts'
import { addMoneyBack } from '../../../store/payments/moneyBack.ts'
import { closeTask } from '../../../store/payments/tasks.ts'

// Refunds and disputes, in the transaction of the change that they belong to. The merchant reads them in its feed.
export async function saveMoneyBack(tx: Tx, { payment, attempt, moneyBack }: Change, now: Date) {
  if (!moneyBack) return
  await addMoneyBack(tx, moneyBack)
  const { merchant_id, tx_reference, mode, status } = payment
  for (const notice of moneyBack.notices) {
    const body = moneyBackBody(payment, attempt, notice)
    const entry = { merchant_id, tx_reference, mode, status, type: notice.type, body, created_at: now }
    await addNotification(tx, entry, undefined)
  }
  for (const { kind, note } of moneyBack.closes)
    await closeTask(tx, merchant_id, attempt.attempt_id, kind, note, now)
}
