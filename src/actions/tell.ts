import { laneOf } from '../core/delivery.ts'
import type { NewEvent } from '../core/event.ts'
import { ipnUrlOf, isSent, notificationBody } from '../core/notification.ts'
import type { LivingPayment } from '../core/payment.ts'
import { readSettings } from '../core/settings.ts'
import type { Telling } from '../store/manyNotifications.ts'
import type { CustomerMessage } from '../store/messages.ts'
import type { PaymentOfMerchant } from '../store/paymentLife.ts'
import { messagesFor } from './queueMessages.ts'

export type News = { telling: Telling; messages: CustomerMessage[] }

// The status of a payment has changed: what whoever has to hear of it will hear, to be written down in the transaction
// of the change. Nobody is spoken to here; workers do that.
export function newsOf(
  { merchant_settings }: PaymentOfMerchant,
  payment: LivingPayment,
  { at }: NewEvent,
): News {
  const { merchant_id, tx_reference, mode, status } = payment
  const settings = readSettings(merchant_settings)
  const style = settings.ipn_style
  const url = isSent(status, style) ? ipnUrlOf(payment, settings) : null
  const to = url === null ? undefined : { url, lane: laneOf(url), style }
  const body = notificationBody(payment, style)
  const notification = { merchant_id, tx_reference, mode, status, body, created_at: at }
  return { telling: { notification, to }, messages: messagesFor(payment, at) }
}
