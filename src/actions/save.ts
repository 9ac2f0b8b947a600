import type { Change } from '../core/change.ts'
import type { NewEvent } from '../core/event.ts'
import type { LivingPayment } from '../core/payment.ts'
import { saveAttempt } from '../store/attempts.ts'
import type { Tx } from '../store/db.ts'
import { addEvents } from '../store/events.ts'
import { savePayment } from '../store/paymentLife.ts'
import { addTasks } from '../store/tasks.ts'

// The change of a payment and the events that tell of it, in the transaction that holds the payment's row: there is
// no new status without its event.
export async function savePaymentChange(
  tx: Tx,
  before: LivingPayment,
  after: LivingPayment,
  events: NewEvent[],
) {
  if (after !== before) await savePayment(tx, after)
  await addEvents(tx, after, events)
}

// Gives back the tasks that are new.
export async function saveChange(tx: Tx, before: LivingPayment, { payment, attempt, events, tasks }: Change) {
  await saveAttempt(tx, attempt)
  await savePaymentChange(tx, before, payment, events)
  return addTasks(tx, tasks)
}
