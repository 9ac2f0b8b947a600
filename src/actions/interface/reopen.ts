import { readMerchantSettings, unreadableSettings } from '../../core/merchant/settings.ts'
import { decideReopen as decide, hasEndedUnpaid } from '../../core/payment/expiry.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Tx } from '../../store/db.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import { eventsOf } from '../../store/payments/events.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { lockPayment, type PaymentWithMerchant, prolongPayment } from '../../store/payments/paymentLife.ts'
import type { StoredRequest } from '../../store/payments/payments.ts'
import { tasksOf } from '../../store/payments/tasks.ts'
import { savePaymentChange } from '../payments/decisions/saveChange.ts'

type Reopening = Pick<Runtime, 'db' | 'clock' | 'wake'>

// The same request again, for a payment that ended unpaid: it is open when the answer leaves. A request that has just
// been stored, or whose payment is open, costs nothing here.
export async function reopen(
  { db, clock, wake }: Reopening,
  stored: StoredRequest,
  deadline: number,
): Promise<void> {
  const now = clock()
  if (!hasEndedUnpaid(stored, now)) return
  const has = await db
    .withQuota('reopen')
    .until(deadline)
    .transaction(tx => reopenHeld(tx, stored, now))
  if (has) wake('senders')
}

// Under its lock: of many repeats one opens it, and money that arrived in between stays.
async function reopenHeld(tx: Tx, key: PaymentKey, now: Date): Promise<boolean> {
  const payment = await lockPayment(tx, key)
  if (!payment) throw new Error('a stored payment is not there')
  const { merchant_id, tx_reference } = key
  const past = {
    attempts: await attemptsOf(tx, merchant_id, tx_reference),
    tasks: await tasksOf(tx, merchant_id, tx_reference),
    events: await eventsOf(tx, merchant_id, tx_reference),
  }
  const opened = decide(payment, past, merchantOf(payment), now)
  if (!opened) return false
  await savePaymentChange(tx, payment, opened.payment, opened.events)
  await prolongPayment(tx, opened.payment)
  return true
}

// While nobody can read whether the merchant wants it, nothing is opened.
function merchantOf({ merchant_active, merchant_settings }: PaymentWithMerchant) {
  const settings = readMerchantSettings(merchant_settings)
  const isUnclear = unreadableSettings(merchant_settings).includes('reopen_unpaid')
  return {
    active: merchant_active,
    settings: { ...settings, reopen_unpaid: settings.reopen_unpaid && !isUnclear },
  }
}
