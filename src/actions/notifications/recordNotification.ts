import { readSettings } from '../../core/merchant/settings.ts'
import { laneOf } from '../../core/notification/laneName.ts'
import { ipnUrlOf, isSent, notificationBody } from '../../core/notification/notification.ts'
import type { NewEvent } from '../../core/payment/event.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { CustomerMessage } from '../../store/messages/messages.ts'
import type { Telling } from '../../store/notifications/notifications.ts'
import type { PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import { messagesFor } from '../messages/queueMessages.ts'

export type News = { telling: Telling; messages: CustomerMessage[] }

// The status of a payment has changed: what whoever has to hear of it will hear, to be written down in the transaction
// of the change. Nobody is spoken to here; workers do that.
export function newsOf({ merchant_settings }: PaymentWithMerchant, payment: Payment, { at }: NewEvent): News {
  const { merchant_id, tx_reference, mode, status } = payment
  const settings = readSettings(merchant_settings)
  const style = settings.ipn_style
  const url = isSent(status, style) ? ipnUrlOf(payment, settings) : null
  const to = url === null ? undefined : { url, lane: laneOf(url, mode, settings), style }
  const body = notificationBody(payment, style)
  const notification = { merchant_id, tx_reference, mode, status, body, created_at: at }
  return { telling: { notification, to }, messages: messagesFor(payment, at) }
}
