import type { Change } from '../core/change.ts'
import type { NewEvent } from '../core/event.ts'
import type { LivingPayment } from '../core/payment.ts'
import { saveAttempt } from '../store/attempts.ts'
import type { Tx } from '../store/db.ts'
import { addEvents } from '../store/events.ts'
import { type PaymentOfMerchant, savePayment } from '../store/paymentLife.ts'
import { addTasks } from '../store/tasks.ts'
import { tell } from './tell.ts'

// The change of a payment, the events that tell of it and what has to be said of it to others, in the transaction that
// holds the payment's row: there is no new status without them.
export async function savePaymentChange(
  tx: Tx,
  before: PaymentOfMerchant,
  after: LivingPayment,
  events: NewEvent[],
) {
  if (after !== before) await savePayment(tx, after)
  await addEvents(tx, after, events)
  for (const event of events) if (event.kind === 'status_changed') await tell(tx, before, after, event)
}

// Gives back the tasks that are new.
export async function saveChange(
  tx: Tx,
  before: PaymentOfMerchant,
  { payment, attempt, events, tasks }: Change,
) {
  await saveAttempt(tx, attempt)
  await savePaymentChange(tx, before, payment, events)
  return addTasks(tx, tasks)
}
