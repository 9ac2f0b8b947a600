import { readMerchantSettings, unreadableSettings } from '../../core/merchant/settings.ts'
import { decideReopen, hasEndedUnpaid } from '../../core/payment/expiry.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import { eventsOf } from '../../store/payments/events.ts'
import type { PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import type { StoredRequest } from '../../store/payments/payments.ts'
import { tasksOf } from '../../store/payments/tasks.ts'
import { changeOf, changeOne, wakeDispatchers } from '../payments/writeChanges.ts'

// Reopens a payment that ended unpaid when the merchant repeats its request, before that request is answered. Only one of
// several repeated requests reopens it, and a payment that was paid meanwhile stays paid. An open payment needs no
// statement.
export async function reopen(
  runtime: Pick<Runtime, 'db' | 'localWorkers' | 'clock' | 'wake'>,
  stored: StoredRequest,
  deadline: number,
): Promise<void> {
  const now = runtime.clock()
  if (!hasEndedUnpaid(stored, now)) return
  const { merchant_id, tx_reference } = stored
  const db = runtime.db.withQuota('reopen').withDeadline(deadline)
  const isReopened = await changeOne(db, runtime.localWorkers, stored, async (tx, payment) => {
    const history = {
      attempts: await attemptsOf(tx, merchant_id, tx_reference),
      tasks: await tasksOf(tx, merchant_id, tx_reference),
      events: await eventsOf(tx, merchant_id, tx_reference),
    }
    const opened = decideReopen(payment, history, merchantOf(payment), now)
    if (!opened) return { answer: false }
    const reopenedUntil = opened.payment.expires_at
    return { answer: true, change: { ...changeOf(payment, opened.payment, opened.events), reopenedUntil } }
  })
  if (isReopened === undefined) throw new Error('a stored payment is missing')
  if (isReopened) wakeDispatchers(runtime)
}

// While the merchant's setting cannot be read, nothing is reopened.
function merchantOf({ merchant_active, merchant_settings }: PaymentWithMerchant) {
  const settings = readMerchantSettings(merchant_settings)
  const isUnreadable = unreadableSettings(merchant_settings).includes('reopen_unpaid')
  return {
    active: merchant_active,
    settings: { ...settings, reopen_unpaid: settings.reopen_unpaid && !isUnreadable },
  }
}
