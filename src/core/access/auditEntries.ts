import type { Logo } from '../merchant/logo/logo.ts'
import type { SettingTexts } from '../merchant/settings.ts'
import type { Mode } from '../mode.ts'
import { figureIn } from '../money.ts'
import type { NewPayment } from '../payment/payment.ts'
import type { RefundApproval } from '../refund/approval.ts'
import type { Refund } from '../refund/refund.ts'
import { type AuditEntry, differingValues } from './audit.ts'

// The entries of changes that both a command and the dashboard make. None has a secret or anything of a customer.

export const settingsEntry = (
  merchant_id: string,
  { before, texts }: { before: SettingTexts; texts: SettingTexts },
): AuditEntry => ({
  merchant_id,
  action: 'settings.change',
  subject: merchant_id,
  ...differingValues(before ?? {}, texts),
})

export const activeEntry = (merchant_id: string, active: boolean): AuditEntry => ({
  merchant_id,
  action: active ? 'merchant.activate' : 'merchant.deactivate',
  subject: merchant_id,
  before: { active: !active },
  after: { active },
})

// `merchant_key` is the public part.
export const keyEntry = (rotated: {
  merchant_id: string
  mode: Mode
  merchant_key: string
  old_keys_valid_until: string
}): AuditEntry => ({
  merchant_id: rotated.merchant_id,
  action: 'key.rotate',
  subject: rotated.merchant_key,
  before: null,
  after: { mode: rotated.mode, old_keys_valid_until: rotated.old_keys_valid_until },
})

export const keyRevokedEntry = (merchant_id: string, mode: Mode, merchant_key: string): AuditEntry => ({
  merchant_id,
  action: 'key.revoke',
  subject: merchant_key,
  before: null,
  after: { mode },
})

export const ipnSecretRevokedEntry = (merchant_id: string, mode: Mode, secret_id: string): AuditEntry => ({
  merchant_id,
  action: 'ipn_secret.revoke',
  subject: secret_id,
  before: null,
  after: { mode },
})

export const ipnSecretEntry = (rotated: {
  merchant_id: string
  mode: Mode
  old_secret_valid_until: string
}): AuditEntry => ({
  merchant_id: rotated.merchant_id,
  action: 'ipn_secret.rotate',
  subject: rotated.merchant_id,
  before: null,
  after: { mode: rotated.mode, old_secret_valid_until: rotated.old_secret_valid_until },
})

export const ipnPasswordEntry = (
  { merchant_id, mode }: { merchant_id: string; mode: Mode },
  isMerchantId: boolean,
): AuditEntry => ({
  merchant_id,
  action: 'ipn_password.rotate',
  subject: merchant_id,
  before: null,
  after: { mode, password: isMerchantId ? 'merchant_id' : 'new' },
})

export const outletEntry = ({
  merchant_id,
  code,
  name,
}: {
  merchant_id: string
  code: string
  name: string
}): AuditEntry => ({ merchant_id, action: 'outlet.add', subject: code, before: null, after: { name } })

// Null: no logo.
export const logoEntry = (merchant_id: string, logo: Pick<Logo, 'type' | 'width' | 'height'> | null) => ({
  merchant_id,
  action: logo ? 'logo.set' : 'logo.remove',
  subject: merchant_id,
  before: null,
  after: logo && { type: logo.type, size: `${logo.width}x${logo.height}` },
})

export type RefundAction = 'refund.create' | 'refund.retry' | 'refund.record'

export const refundEntry = (action: RefundAction, refund: Refund): AuditEntry => ({
  merchant_id: refund.merchant_id,
  action,
  subject: refund.refund_reference,
  before: null,
  after: {
    payment: refund.tx_reference,
    amount: `${refund.currency} ${figureIn(refund.amount, refund.currency)}`,
    source: refund.source,
    state: refund.state,
  },
})

// The entries of an approval have the id of who asked; the actor of the decision is who decided.
export const approvalEntry = (
  action: 'refund.request_approval' | 'refund.approve' | 'refund.reject',
  approval: RefundApproval,
): AuditEntry => ({
  merchant_id: approval.merchant_id,
  action,
  subject: approval.refund_reference,
  before: null,
  after: {
    payment: approval.tx_reference,
    amount: `${approval.currency} ${figureIn(approval.amount, approval.currency)}`,
    source: approval.source,
    requester: approval.requester_id,
  },
})

export const receiptEntry = (
  { merchant_id, tx_reference }: { merchant_id: string; tx_reference: string },
  medium: string,
): AuditEntry => ({
  merchant_id,
  action: 'receipt.send',
  subject: tx_reference,
  before: null,
  after: { medium },
})

// `isAsked`: an attempt is unresolved, so the payment becomes cancelled only if that ends without success.
export const cancelEntry = (
  { merchant_id, tx_reference }: { merchant_id: string; tx_reference: string },
  before: string,
  isAsked: boolean,
): AuditEntry => ({
  merchant_id,
  action: 'payment.cancel',
  subject: tx_reference,
  before: { status: before },
  after: isAsked ? { cancel: 'requested' } : { status: 'cancelled' },
})

// Who looked at the full number and email of a customer.
export const revealEntry = (merchant_id: string, tx_reference: string): AuditEntry => ({
  merchant_id,
  action: 'payment.reveal',
  subject: tx_reference,
  before: null,
  after: null,
})

// The filter has no search text, which may be of a customer.
export const exportEntry = (merchant_id: string, filter: Readonly<Record<string, unknown>>): AuditEntry => ({
  merchant_id,
  action: 'payments.export',
  subject: merchant_id,
  before: null,
  after: filter,
})

export const redeliverEntry = (
  { merchant_id }: { merchant_id: string },
  subject: string, // the id of a notification, or of the merchant whose notifications of a period are sent again
  after: AuditEntry['after'] = null,
): AuditEntry => ({ merchant_id, action: 'notification.redeliver', subject, before: null, after })

// The subject is the id of the notification. The settings have the address.
export const testNotificationEntry = (merchant_id: string, mode: Mode, id: string): AuditEntry => ({
  merchant_id,
  action: 'notification.test',
  subject: id,
  before: null,
  after: { mode },
})

export const closedTaskEntry = (
  { merchant_id, tx_reference }: { merchant_id: string; tx_reference: string },
  kind: string,
): AuditEntry => ({ merchant_id, action: 'task.close', subject: tx_reference, before: null, after: { kind } })

type AccountFacts = {
  account: string
  merchant_id: string | null
  label: string | null
  disabled_at: Date | null
  settings: Readonly<Record<string, unknown>>
}

// Settings that are not secret with their values, of secrets only that they were stored again.
export function accountChangeEntry(
  row: AccountFacts,
  changed: Partial<AccountFacts> & { sealed_settings?: unknown },
): AuditEntry {
  const shown = ({ label, disabled_at, settings }: AccountFacts) => ({ label, disabled_at, ...settings })
  const { before, after } = differingValues(shown(row), shown({ ...row, ...changed }))
  return {
    merchant_id: row.merchant_id,
    action: 'account.change',
    subject: row.account,
    before,
    after: changed.sealed_settings === undefined ? after : { ...after, credentials: 'stored again' },
  }
}

export const takenEntry = (
  payment: Pick<NewPayment, 'merchant_id' | 'tx_reference' | 'mode' | 'total' | 'currency' | 'outlet'>,
): AuditEntry => ({
  merchant_id: payment.merchant_id,
  action: 'payment.take',
  subject: payment.tx_reference,
  before: null,
  after: {
    mode: payment.mode,
    amount: `${payment.currency} ${figureIn(payment.total, payment.currency)}`,
    outlet: payment.outlet,
  },
})

// A command that requested a payment, as the merchant's server does.
export const requestEntry = (merchant_id: string, tx_reference: string, mode: Mode): AuditEntry => ({
  merchant_id,
  action: 'payment.request',
  subject: tx_reference,
  before: null,
  after: { mode },
})
