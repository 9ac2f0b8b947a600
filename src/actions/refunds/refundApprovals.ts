import type { Actor } from '../../core/access/audit.ts'
import { approvalEntry } from '../../core/access/auditEntries.ts'
import {
  approvalDays,
  type ApprovalFault,
  approvalFault,
  type RefundApproval,
} from '../../core/refund/approval.ts'
import type { Refund, RefundFault } from '../../core/refund/refund.ts'
import { newReference } from '../../runtime/ids.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import { addAuditEntry } from '../../store/access/audit.ts'
import { findUser } from '../../store/access/users.ts'
import type { Db, Tx } from '../../store/db.ts'
import { lockPayment } from '../../store/payments/paymentLife.ts'
import { addApproval, findApproval, lockApproval, saveDecision } from '../../store/refunds/approvals.ts'
import { findRefundByReference } from '../../store/refunds/merchantRefunds.ts'
import type { RefundKey } from '../../store/refunds/refunds.ts'
import { audited } from '../access/audit.ts'
import { mailOwners } from '../access/mailOwners.ts'
import { createPermittedRefund, refundablePart, type RefundRequest } from './createRefund.ts'

// Refunds above a limit of the merchant wait for a second person. The reference of the refund is given by the form that asks
// for it and identifies the approval, so that a form submitted twice asks once, and an approval creates one refund.

export type ApprovalRequest = Omit<RefundRequest, 'refund_id' | 'payment' | 'by'> & {
  payment: { tx_reference: string }
  refund_reference: string // from newRefundReference
  requested_by: Refund['requested_by']
}

// The user who asks or decides.
export type ApprovalUser = { user_id: string; name: string; actor: Actor }

type RequestResult = { done: 'waiting' | 'repeated'; approval: RefundApproval } | RefundFault

// Stores what a user asks for, if it could be refunded now. It holds no money: the amount is decided again with the approval.
export async function requestRefundApproval(
  deps: PaymentDeps,
  { requested_by, ...asked }: ApprovalRequest,
  { user_id, name, actor }: ApprovalUser,
  now: Date,
): Promise<RequestResult> {
  const { merchant_id, refund_reference, payment, source, reason } = asked
  const request: RefundRequest = { ...asked, refund_id: null, by: byOf(requested_by, name) }
  return audited<RequestResult>(deps.db, actor, now, async (tx, record) => {
    const locked = await lockPayment(tx, { merchant_id, ...payment })
    if (!locked) return { fault: 'no_such_payment' }
    const before = await lockApproval(tx, { merchant_id, refund_reference })
    if (before) return { done: 'repeated', approval: before }
    const part = await refundablePart(deps, tx, locked, request)
    if ('fault' in part) return part
    const approval: RefundApproval = {
      merchant_id,
      refund_reference,
      mode: locked.mode,
      tx_reference: locked.tx_reference,
      invoice_id: locked.invoice_id,
      attempt_number: part.attempt.number,
      source,
      amount: part.amount,
      currency: locked.currency,
      reason,
      requested_by,
      requester_id: user_id,
      state: 'waiting',
      decider_id: null,
      decision_reason: '',
      created_at: now,
      expires_at: new Date(now.getTime() + approvalDays * 86_400_000),
      decided_at: null,
    }
    await addApproval(tx, approval)
    await record(approvalEntry('refund.request_approval', approval))
    await mailOwners(tx, merchant_id, { change: 'refund', by: name }, now)
    return { done: 'waiting', approval }
  })
}

const byOf = (requested_by: Refund['requested_by'], name: string): RefundRequest['by'] =>
  requested_by === 'merchant' ? { requested_by } : { requested_by, operator: name }

type ApproveResult = { done: 'approved' | 'repeated'; refund: Refund } | ApprovalFault | RefundFault

// Another user than the one who asked approves: the refund is stored with the decision in one commit, and sent. If the
// amount cannot be refunded any more, the approval stays as it was. Two approvers at the same time make one refund.
export async function approveRefund(
  deps: PaymentDeps,
  key: RefundKey,
  { user_id, name, actor }: ApprovalUser,
  now: Date,
): Promise<ApproveResult> {
  const approval = await findApproval(deps.db, key)
  const refund = approval?.state === 'approved' && (await findRefundByReference(deps.db, key))
  if (refund) return { done: 'repeated', refund }
  const fault = approvalFault(approval, user_id, now)
  if (fault || !approval) return fault ?? { fault: 'no_such_approval' }
  const entryId = newReference(now)
  const permit = async (tx: Tx): Promise<ApprovalFault | undefined> => {
    const locked = await lockApproval(tx, key)
    const lateFault = approvalFault(locked, user_id, now)
    if (lateFault || !locked) return lateFault
    await saveDecision(tx, key, {
      state: 'approved',
      decider_id: user_id,
      decision_reason: '',
      decided_at: now,
    })
    await addAuditEntry(tx, entryId, actor, approvalEntry('refund.approve', locked), now)
    await mailOwners(tx, key.merchant_id, { change: 'refund', by: name }, now)
    return undefined
  }
  const request = await refundRequestOf(deps.db, approval)
  const result = await createPermittedRefund(deps, request, permit)
  if ('fault' in result) return result
  return { done: result.done === 'created' ? 'approved' : 'repeated', refund: result.refund }
}

async function refundRequestOf(db: Db, approval: RefundApproval): Promise<RefundRequest> {
  const { merchant_id, mode, tx_reference, attempt_number, refund_reference } = approval
  const { amount, source, reason, requested_by, requester_id } = approval
  const requester = await findUser(db, requester_id)
  return {
    merchant_id,
    mode,
    payment: { tx_reference },
    attempt_number,
    refund_id: null,
    refund_reference,
    amount,
    source,
    reason,
    by: byOf(requested_by, requester?.name ?? requester_id),
  }
}

// The requester may reject it too, which takes the request back.
export const rejectRefund = (
  { db }: Pick<PaymentDeps, 'db'>,
  key: RefundKey,
  reason: string,
  { user_id, name, actor }: ApprovalUser,
  now: Date,
): Promise<{ done: 'rejected'; approval: RefundApproval } | ApprovalFault> =>
  audited<{ done: 'rejected'; approval: RefundApproval } | ApprovalFault>(
    db,
    actor,
    now,
    async (tx, record) => {
      const approval = await lockApproval(tx, key)
      const fault = approvalFault(approval, user_id, now)
      if (!approval || (fault && fault.fault !== 'same_person')) return fault ?? { fault: 'no_such_approval' }
      const rejected = {
        ...approval,
        state: 'rejected' as const,
        decider_id: user_id,
        decision_reason: reason,
        decided_at: now,
      }
      await saveDecision(tx, key, rejected)
      await record(approvalEntry('refund.reject', approval))
      await mailOwners(tx, key.merchant_id, { change: 'refund', by: name }, now)
      return { done: 'rejected', approval: rejected }
    },
  )
