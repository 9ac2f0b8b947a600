import type { Lang } from '../../core/languages/languages.ts'
import type { Mode } from '../../core/mode.ts'
import type { Transfer } from '../../core/ledger/transfer.ts'
import { type MerchantSettings, readMerchantSettings } from '../../core/merchant/settings.ts'
import type { Message } from '../../core/message/message.ts'
import { approvalStateOf } from '../../core/refund/approval.ts'
import { isCharge, leftToRefund } from '../../core/refund/ceiling.ts'
import type { Db } from '../../store/db.ts'
import { lastSeal } from '../../store/ledger/seals.ts'
import { transfersOfPayment } from '../../store/ledger/transfers.ts'
import { findPayment, type PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import { customerMessagesOf } from '../messages/receipts.ts'
import { nextSealAt } from '../ledger/seal.ts'
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
  nextSealAt: Date | undefined // of its newest transfer; undefined: all are sealed
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
  lang: Lang,
): Promise<PaymentDetails | undefined> {
  const payment = await findPayment(db, { merchant_id, tx_reference })
  if (payment?.mode !== mode) return undefined
  const [explained, notifications, messages, transfers, approvals, left, seal] = await Promise.all([
    explainPayment(db, payment, now, lang),
    sentNotificationsOf(db, payment),
    customerMessagesOf(db, payment),
    transfersOfPayment(db, payment),
    listApprovalsOfPayment(db, payment),
    leftOf(db, payment),
    lastSeal(db, merchant_id),
  ])
  const settings = readMerchantSettings(payment.merchant_settings)
  return {
    explained,
    notifications,
    messages,
    transfers,
    nextSealAt: nextSealAt(transfers, seal?.until_at),
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

// Another charge of a payment than the one that paid it: one that came twice, or another amount.
export type OtherCharge = { attempt_number: number; left: bigint }

// Undefined if this attempt paid the payment, took no money, or took money in another currency.
export async function otherCharge(
  db: Db,
  key: { merchant_id: string; tx_reference: string },
  attempt_number: number,
): Promise<OtherCharge | undefined> {
  const payment = await findPayment(db, key)
  if (!payment) return undefined
  const { charge } = await readCharge(db, payment, ({ number }) => number === attempt_number)
  if (!charge || charge.hasOtherCurrency || !isCharge(charge.attempt)) return undefined
  if (charge.attempt.attempt_id === payment.paid_attempt_id) return undefined
  return { attempt_number, left: leftToRefund('surplus', charge) }
}
