import type { Mode } from '../../core/mode.ts'
import type { Tx } from '../../store/db.ts'
import {
  allWaitingApprovals,
  approvalsOfPayment,
  endedApprovals,
  type NamedApproval,
  waitingApprovals,
} from '../../store/refunds/approvals.ts'

export type ListedApproval = NamedApproval

type MerchantScope = { merchant_id: string; mode: Mode }

// What waits for a second person, the oldest first: at one merchant, or at all of them.
export const listWaitingApprovals = (
  tx: Tx,
  scope: MerchantScope | 'all',
  now: Date,
): Promise<ListedApproval[]> =>
  scope === 'all' ? allWaitingApprovals(tx, now) : waitingApprovals(tx, scope, now)

// What was decided or has expired, the newest first.
export const listEndedApprovals = (
  tx: Tx,
  scope: MerchantScope,
  now: Date,
  limit: number,
): Promise<ListedApproval[]> => endedApprovals(tx, scope, now, limit)

// Who asked for the refunds of a payment, and who decided.
export const listApprovalsOfPayment = (
  tx: Tx,
  payment: { merchant_id: string; tx_reference: string },
): Promise<ListedApproval[]> => approvalsOfPayment(tx, payment)
