import { readMerchantSettings } from '../../core/merchant/settings.ts'
import { laneOf } from '../../core/notification/lane.ts'
import { ipnUrlOf, isSent, notificationBody } from '../../core/notification/notification.ts'
import type { NewEvent } from '../../core/payment/change.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { CustomerMessage } from '../../store/messages/messages.ts'
import type { NotificationToAdd } from '../../store/notifications/notifications.ts'
import type { PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import { messagesFor } from '../messages/queueMessages.ts'

export type NotificationUpdate = { notification: NotificationToAdd; messages: CustomerMessage[] }

// The notification to the merchant and the messages to the customer about a status change. They are written in the
// transaction of the change, and sent by workers.
export function notificationUpdateOf(
  { merchant_settings }: PaymentWithMerchant,
  payment: Payment,
  { at }: NewEvent,
): NotificationUpdate {
  const { merchant_id, tx_reference, mode, status } = payment
  const settings = readMerchantSettings(merchant_settings)
  const style = settings.ipn_style
  const url = isSent(status, style) ? ipnUrlOf(payment, settings) : null
  const to = url === null ? undefined : { url, lane: laneOf(url, mode, settings), style }
  const body = notificationBody(payment, style)
  const notification = { merchant_id, tx_reference, mode, status, body, created_at: at }
  return { notification: { notification, to }, messages: messagesFor(payment, at) }
}
