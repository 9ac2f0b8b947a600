import type { ListedApproval } from '../../actions/refunds/listApprovals.ts'
import { figureIn } from '../../core/money.ts'
import type { Refund } from '../../core/refund/refund.ts'
import { moneyText, withoutControls } from '../../core/timeline/history.ts'
import { dateTime, facts, table } from '../terminal.ts'

// Omits the attempt's id, which is the secret of the provider's callbacks.
export const refundData = (refund: Refund) => ({
  refund_reference: refund.refund_reference,
  refund_id: refund.refund_id,
  merchant_id: refund.merchant_id,
  mode: refund.mode,
  tx_reference: refund.tx_reference,
  invoice_id: refund.invoice_id,
  source: refund.source,
  kind: refund.kind,
  provider_account: refund.provider_account,
  amount: figureIn(refund.amount, refund.currency),
  currency: refund.currency,
  reason: refund.reason,
  requested_by: refund.requested_by,
  operator: refund.operator,
  state: refund.state,
  state_reason: refund.state_reason,
  provider_ref: refund.provider_ref,
  provider_code: refund.provider_code,
  sends: refund.sends,
  sent_at: refund.sent_at,
  polls: refund.polls,
  next_poll_at: refund.next_poll_at,
  recorded_by: refund.recorded_by,
  recorded_reference: refund.recorded_reference,
  succeeded_at: refund.succeeded_at,
  created_at: refund.created_at,
  ended_at: refund.ended_at,
})

export const refundTable = (refunds: readonly Refund[]): string =>
  table(
    ['REFUND', 'AMOUNT', 'STATE', 'PAYMENT', 'BY', 'CREATED'],
    refunds.map(refund => [
      refund.refund_reference,
      moneyText(refund.currency, refund.amount),
      refund.state,
      refund.tx_reference,
      refund.operator ?? 'merchant',
      dateTime(refund.created_at),
    ]),
    ['AMOUNT'],
  )

// `refund_reference` is that of the refund which the approval creates.
export const approvalData = (approval: ListedApproval) => ({
  refund_reference: approval.refund_reference,
  merchant_id: approval.merchant_id,
  merchant_name: approval.merchant_name,
  mode: approval.mode,
  tx_reference: approval.tx_reference,
  invoice_id: approval.invoice_id,
  source: approval.source,
  amount: figureIn(approval.amount, approval.currency),
  currency: approval.currency,
  reason: approval.reason,
  requested_by: approval.requested_by,
  requester_id: approval.requester_id,
  requester_name: approval.requester_name,
  created_at: approval.created_at,
  expires_at: approval.expires_at,
})

export const approvalTable = (approvals: readonly ListedApproval[]): string =>
  table(
    ['REFUND', 'MERCHANT', 'MODE', 'AMOUNT', 'PAYMENT', 'ASKED BY', 'ASKED', 'EXPIRES'],
    approvals.map(approval => [
      approval.refund_reference,
      withoutControls(approval.merchant_name),
      approval.mode,
      moneyText(approval.currency, approval.amount),
      approval.tx_reference,
      withoutControls(approval.requester_name ?? approval.requester_id),
      dateTime(approval.created_at),
      dateTime(approval.expires_at),
    ]),
    ['AMOUNT'],
  )

const time = (at: Date | null) => at && dateTime(at)

export const refundFacts = (refund: Refund): string =>
  facts([
    ['refund', refund.refund_reference],
    ["merchant's id", refund.refund_id],
    ['payment', refund.tx_reference],
    ['invoice', refund.invoice_id],
    ['merchant', refund.merchant_id],
    ['mode', refund.mode],
    ['amount', moneyText(refund.currency, refund.amount)],
    ['of', sources[refund.source]],
    [
      'state',
      refund.state_reason ? `${refund.state}: ${withoutControls(refund.state_reason)}` : refund.state,
    ],
    ['reason', withoutControls(refund.reason) || null],
    ['requested by', refund.operator ?? 'the merchant'],
    ['made', refund.kind === 'manual' ? 'by hand' : `by ${refund.provider_account}`],
    ["provider's ref", refund.provider_ref && withoutControls(refund.provider_ref)],
    ["provider's code", refund.provider_code && withoutControls(refund.provider_code)],
    ['created', dateTime(refund.created_at)],
    [
      'sent',
      refund.sent_at && `${dateTime(refund.sent_at)}${refund.sends > 1 ? `, ${refund.sends} times` : ''}`,
    ],
    ['next poll', time(refund.next_poll_at)],
    ['money back', time(refund.succeeded_at)],
    ['recorded by', refund.recorded_by],
    ['reference', refund.recorded_reference],
    ['ended', time(refund.ended_at)],
  ])

const sources = {
  payment: "the payment's amount",
  surplus: 'money that the payment did not need',
  fee: 'the fee that the customer bore',
} as const
