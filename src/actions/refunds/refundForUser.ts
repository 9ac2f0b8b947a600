import { refundEntry } from '../../core/access/auditEntries.ts'
import type { Mode } from '../../core/mode.ts'
import type { Refund } from '../../core/refund/refund.ts'
import { newReference, refundReferenceOf } from '../../runtime/ids.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import { addAuditEntry } from '../../store/access/audit.ts'
import type { Tx } from '../../store/db.ts'
import { mailOwners } from '../access/mailOwners.ts'
import { type CreateRefundResult, createPermittedRefund } from './createRefund.ts'
import { type ApprovalUser, requestRefundApproval } from './refundApprovals.ts'

type UserRefund = {
  merchant_id: string
  mode: Mode
  tx_reference: string
  number: number // of the refund among those of the payment, as the form has it
  attempt_number?: number // of another charge than the one that paid the payment
  amount: bigint
  reason: string
  requested_by: Refund['requested_by']
  needsApproval: boolean // of a second person
  isTold: boolean // the owners get a mail
}

// Refunds a part of the payment's amount, or of another charge, or asks a second person to approve it. It is recorded in the same commit.
export async function refundForUser(
  deps: PaymentDeps,
  { needsApproval, isTold, ...asked }: UserRefund,
  user: ApprovalUser,
  now: Date,
): Promise<CreateRefundResult | { done: 'waiting' }> {
  const { merchant_id, mode, tx_reference, number, attempt_number, amount, reason, requested_by } = asked
  const refund_reference = refundReferenceOf(merchant_id, tx_reference, number)
  const source = attempt_number === undefined ? 'payment' : 'surplus'
  const request = { merchant_id, mode, attempt_number, amount, reason, refund_reference, source } as const
  const payment = { tx_reference }
  if (needsApproval) {
    const result = await requestRefundApproval(deps, { ...request, payment, requested_by }, user, now)
    return 'fault' in result ? result : { done: 'waiting' }
  }
  const entryId = newReference(now)
  const permit = async (tx: Tx, refund: Refund) => {
    await addAuditEntry(tx, entryId, user.actor, refundEntry('refund.create', refund), now)
    if (isTold) await mailOwners(tx, merchant_id, { change: 'refund', by: user.name }, now)
    return undefined
  }
  const by = requested_by === 'merchant' ? ({ requested_by } as const) : { requested_by, operator: user.name }
  return createPermittedRefund<never>(deps, { ...request, payment, refund_id: null, by }, permit)
}
