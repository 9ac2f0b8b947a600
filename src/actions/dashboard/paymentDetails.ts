import type { Mode } from '../../core/mode.ts'
import type { Transfer } from '../../core/ledger/transfer.ts'
import { type MerchantSettings, readMerchantSettings } from '../../core/merchant/settings.ts'
import type { Message } from '../../core/message/message.ts'
import { approvalStateOf } from '../../core/refund/approval.ts'
import { leftToRefund } from '../../core/refund/ceiling.ts'
import type { Db } from '../../store/db.ts'
import { transfersOfPayment } from '../../store/ledger/transfers.ts'
import { findPayment, type PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import { customerMessagesOf } from '../messages/receipts.ts'
import { type SentNotification, sentNotificationsOf } from '../notifications/findNotifications.ts'
import { type ListedApproval, listApprovalsOfPayment } from '../refunds/listApprovals.ts'
import { type Explained, explainPayment } from '../payments/explainPayment.ts'
import { readCharge } from '../payments/refundedCharge.ts'

export type PaymentOfMerchant = { merchant_id: string; mode: Mode; tx_reference: string }

// Everything that a merchant sees of one payment.
export type PaymentDetails = {
  explained: Explained
  notifications: SentNotification[]
  messages: Message[]
  transfers: Transfer[]
  waiting: ListedApproval[] // refunds that wait for a second person
  left: bigint // what can still be refunded of its amount
  refundNumber: number // of the next refund
  mayRefund: boolean // the merchant's settings allow it
  limits: Pick<MerchantSettings, 'refund_confirm_above' | 'refund_approval_above'>
}

// Undefined if the merchant has no such payment in this mode.
export async function paymentDetails(
  db: Db,
  { merchant_id, mode, tx_reference }: PaymentOfMerchant,
  now: Date,
): Promise<PaymentDetails | undefined> {
  const payment = await findPayment(db, { merchant_id, tx_reference })
  if (payment?.mode !== mode) return undefined
  const [explained, notifications, messages, transfers, approvals, left] = await Promise.all([
    explainPayment(db, payment, now),
    sentNotificationsOf(db, payment),
    customerMessagesOf(db, payment),
    transfersOfPayment(db, payment),
    listApprovalsOfPayment(db, payment),
    leftOf(db, payment),
  ])
  const settings = readMerchantSettings(payment.merchant_settings)
  return {
    explained,
    notifications,
    messages,
    transfers,
    waiting: approvals.filter(approval => approvalStateOf(approval, now) === 'waiting'),
    left,
    refundNumber: explained.refunds.length + approvals.length + 1,
    mayRefund: settings.refunds || mode === 'test',
    limits: settings,
  }
}

async function leftOf(db: Db, payment: PaymentWithMerchant): Promise<bigint> {
  if (payment.status !== 'paid') return 0n
  const { charge } = await readCharge(db, payment, ({ attempt_id }) => attempt_id === payment.paid_attempt_id)
  return charge && !charge.hasOtherCurrency ? leftToRefund('payment', charge) : 0n
}
