import type { MerchantSettings } from '../merchant/settings.ts'
import { mostIn } from '../merchant/totalLimit.ts'
import type { Mode } from '../mode.ts'
import type { Currency } from '../money.ts'
import type { Refund, RefundSource } from './refund.ts'

export type ApprovalState = 'waiting' | 'approved' | 'rejected' | 'expired'

// A refund above the merchant's limit, as one person asks for it and another decides. One row of `refund_approvals`.
export type RefundApproval = {
  merchant_id: string
  refund_reference: string // of the refund that the approval creates
  mode: Mode
  tx_reference: string
  invoice_id: string
  attempt_number: number // of the charge
  source: RefundSource
  amount: bigint
  currency: Currency
  reason: string // may be empty
  requested_by: Refund['requested_by']
  requester_id: string // the user who asked
  state: Exclude<ApprovalState, 'expired'>
  decider_id: string | null // the user who decided
  decision_reason: string // of a rejection
  created_at: Date
  expires_at: Date
  decided_at: Date | null
}

export const approvalDays = 7

// Nothing is stored when an approval expires.
export const approvalStateOf = (
  { state, expires_at }: Pick<RefundApproval, 'state' | 'expires_at'>,
  now: Date,
): ApprovalState => (state === 'waiting' && now >= expires_at ? 'expired' : state)

// Why an approval is not decided.
export type ApprovalFault =
  | { fault: 'no_such_approval' }
  | { fault: 'same_person' } // who asked may not decide
  | { fault: 'ended'; state: ApprovalState } // decided or expired

export function approvalFault(
  approval: RefundApproval | undefined,
  decider_id: string,
  now: Date,
): ApprovalFault | undefined {
  if (!approval) return { fault: 'no_such_approval' }
  const state = approvalStateOf(approval, now)
  if (state !== 'waiting') return { fault: 'ended', state }
  return approval.requester_id === decider_id ? { fault: 'same_person' } : undefined
}

type RefundLimits = Pick<MerchantSettings, 'refund_confirm_above' | 'refund_approval_above'>

type Asked = { amount: bigint; currency: Currency; earlier: readonly Pick<Refund, 'amount' | 'state'>[] }

// Whether a second person approves a refund, and whether the person who asks for it enters the password or a code again.
// The earlier refunds of the payment count too, so that nobody divides a refund into parts below the limit.
export function refundRules(
  { refund_confirm_above, refund_approval_above }: RefundLimits,
  { amount, currency, earlier }: Asked,
) {
  const inAll = earlier
    .filter(({ state }) => state !== 'failed')
    .reduce((sum, refund) => sum + refund.amount, amount)
  const isAbove = (limit: RefundLimits['refund_confirm_above']) =>
    limit !== null && inAll > mostIn(limit, currency)
  return { needsConfirmation: isAbove(refund_confirm_above), needsApproval: isAbove(refund_approval_above) }
}
