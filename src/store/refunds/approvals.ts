import type { Mode } from '../../core/mode.ts'
import type { RefundApproval } from '../../core/refund/approval.ts'
import { sql, type Tx } from '../db.ts'
import type { PaymentKey } from '../payments/paymentKeys.ts'
import type { RefundKey } from './refunds.ts'

const maxListed = 100

// An approval with the present names of the users.
export type NamedApproval = RefundApproval & {
  merchant_name: string
  requester_name: string | null
  decider_name: string | null
}

const namedApprovals = sql`
  select a.*, m.name as merchant_name, u.name as requester_name, d.name as decider_name
  from refund_approvals a
    join merchants m on m.merchant_id = a.merchant_id
    left join users u on u.user_id = a.requester_id
    left join users d on d.user_id = a.decider_id`

// The same form submitted twice stores one.
export const addApproval = async (tx: Tx, a: RefundApproval): Promise<boolean> =>
  (await tx.count(sql`
    insert into refund_approvals (merchant_id, refund_reference, mode, tx_reference, invoice_id, attempt_number, source,
      amount, currency, reason, requested_by, requester_id, state, created_at, expires_at)
    values (${a.merchant_id}, ${a.refund_reference}, ${a.mode}, ${a.tx_reference}, ${a.invoice_id}, ${a.attempt_number},
      ${a.source}, ${a.amount}, ${a.currency}, ${a.reason}, ${a.requested_by}, ${a.requester_id}, ${a.state},
      ${a.created_at}, ${a.expires_at})
    on conflict (merchant_id, refund_reference) do nothing`)) > 0

export const findApproval = (tx: Tx, { merchant_id, refund_reference }: RefundKey) =>
  tx.one<NamedApproval>(sql`
    ${namedApprovals} where a.merchant_id = ${merchant_id} and a.refund_reference = ${refund_reference}`)

export const lockApproval = (tx: Tx, { merchant_id, refund_reference }: RefundKey) =>
  tx.one<RefundApproval>(sql`
    select * from refund_approvals
    where merchant_id = ${merchant_id} and refund_reference = ${refund_reference} for update`)

type Decision = Pick<RefundApproval, 'state' | 'decider_id' | 'decision_reason' | 'decided_at'>

export const saveDecision = (tx: Tx, { merchant_id, refund_reference }: RefundKey, d: Decision) =>
  tx.rows(sql`
    update refund_approvals set state = ${d.state}, decider_id = ${d.decider_id},
      decision_reason = ${d.decision_reason}, decided_at = ${d.decided_at}
    where merchant_id = ${merchant_id} and refund_reference = ${refund_reference}`)

// What waits for a second person, the oldest first: of one merchant.
export const waitingApprovals = (
  tx: Tx,
  { merchant_id, mode }: { merchant_id: string; mode: Mode },
  now: Date,
) =>
  tx.rows<NamedApproval>(sql`
    ${namedApprovals}
    where a.merchant_id = ${merchant_id} and a.mode = ${mode} and a.state = 'waiting' and a.expires_at > ${now}
    order by a.created_at limit ${maxListed}`)

// The same of all merchants.
export const allWaitingApprovals = (tx: Tx, now: Date) =>
  tx.rows<NamedApproval>(sql`
    ${namedApprovals} where a.state = 'waiting' and a.expires_at > ${now} order by a.created_at limit ${maxListed}`)

// The newest that do not wait any more.
export const endedApprovals = (
  tx: Tx,
  { merchant_id, mode }: { merchant_id: string; mode: Mode },
  now: Date,
  limit: number,
) =>
  tx.rows<NamedApproval>(sql`
    ${namedApprovals}
    where a.merchant_id = ${merchant_id} and a.mode = ${mode} and (a.state <> 'waiting' or a.expires_at <= ${now})
    order by a.created_at desc limit ${limit}`)

export const approvalsOfPayment = (tx: Tx, { merchant_id, tx_reference }: PaymentKey) =>
  tx.rows<NamedApproval>(sql`
    ${namedApprovals}
    where a.merchant_id = ${merchant_id} and a.tx_reference = ${tx_reference} order by a.created_at`)
