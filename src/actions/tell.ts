import { laneOf } from '../core/delivery.ts'
import type { NewEvent } from '../core/event.ts'
import { ipnUrlOf, isSent, notificationBody } from '../core/notification.ts'
import type { LivingPayment } from '../core/payment.ts'
import { readSettings } from '../core/settings.ts'
import type { Tx } from '../store/db.ts'
import { addNotification, type Destination } from '../store/notifications.ts'
import type { PaymentOfMerchant } from '../store/paymentLife.ts'
import { queueMessages } from './queueMessages.ts'

// The status of a payment has changed: whoever has to hear of it is written down, in the transaction of the change.
// Nobody is spoken to here; workers do that.
export async function tell(
  tx: Tx,
  { merchant_settings }: PaymentOfMerchant,
  payment: LivingPayment,
  { at }: NewEvent,
) {
  const { merchant_id, tx_reference, mode, status } = payment
  const settings = readSettings(merchant_settings)
  const style = settings.ipn_style
  const url = isSent(status, style) ? ipnUrlOf(payment, settings) : null
  const to: Destination | undefined = url === null ? undefined : { url, lane: laneOf(url), style }
  const body = notificationBody(payment, style)
  await addNotification(tx, { merchant_id, tx_reference, mode, status, body, created_at: at }, to)
  await queueMessages(tx, payment, at)
}
