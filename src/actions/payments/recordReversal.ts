import type { Reversal } from '../../core/channel/reply.ts'
import { reversalBody } from '../../core/notification/reversal.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import type { Change } from '../../core/payment/change.ts'
import { reverse } from '../../core/payment/reverse.ts'
import type { Tx } from '../../store/db.ts'
import { addNotification } from '../../store/notifications/notifications.ts'
import { lockAttempt } from '../../store/payments/attempts.ts'
import { lockPayment } from '../../store/payments/paymentLife.ts'
import { addTasks } from '../../store/payments/tasks.ts'
import { savePaymentChange } from './decisions/saveChange.ts'
import type { PaymentDeps } from './deps.ts'

// Money went back after it was paid, says the provider: the payment has a mark, a person a task, and the merchant's feed
// an entry of a type of its own. Once for each kind, however often it is said.
export async function recordReversal(
  { db, clock, watch }: Pick<PaymentDeps, 'db' | 'clock' | 'watch'>,
  attempt: Pick<Attempt, 'merchant_id' | 'attempt_id' | 'tx_reference'>,
  reversal: Reversal,
): Promise<void> {
  const change = await db.transaction(tx => record(tx, attempt, reversal, clock()))
  if (change) watch(change)
}

async function record(
  tx: Tx,
  { merchant_id, attempt_id, tx_reference }: Pick<Attempt, 'merchant_id' | 'attempt_id' | 'tx_reference'>,
  reversal: Reversal,
  now: Date,
): Promise<Change | undefined> {
  const before = await lockPayment(tx, { merchant_id, tx_reference })
  const attempt = before && (await lockAttempt(tx, merchant_id, attempt_id))
  if (!attempt) return undefined
  const change = reverse(before, attempt, reversal, now)
  const tasks = await addTasks(tx, change.tasks)
  if (tasks.length === 0) return undefined
  await savePaymentChange(tx, before, change.payment, change.events)
  const { mode, status } = before
  const body = reversalBody(change.payment, attempt, reversal, now)
  const entry = { merchant_id, tx_reference, mode, status, type: reversal.kind, body, created_at: now }
  await addNotification(tx, entry, undefined)
  return { ...change, tasks }
}
