import type { Dispute } from '../provider/reply.ts'
import type { TaskKind } from './task.ts'

// One refund of a charge, and one dispute of it, as they are stored.
export type ReversalRecord = {
  merchant_id: string
  attempt_id: string
  reversal_id: string // the provider's
  tx_reference: string
  amount: bigint
  currency: string
  reason: string
  reversed_at: Date
  created_at: Date
}
export type DisputeRecord = {
  merchant_id: string
  attempt_id: string
  dispute_id: string // the provider's
  tx_reference: string
  state: Dispute['state']
  amount: bigint
  currency: string
  reason: string
  due_at: Date | null
  opened_at: Date
  resolved_at: Date | null
}

// What is stored of an attempt's refunds and disputes.
export type MoneyBack = { reversals: readonly ReversalRecord[]; disputes: readonly DisputeRecord[] }
export const noMoneyBack: MoneyBack = { reversals: [], disputes: [] }

// What a merchant reads in its feed.
export const moneyBackTypes = ['reversed', 'dispute_opened', 'dispute_won', 'dispute_lost'] as const
export type MoneyBackType = (typeof moneyBackTypes)[number]
export type MoneyBackNotice = { type: MoneyBackType; amount: bigint; reason: string; at: Date }

// What a change adds to those records. `closes`: tasks that nobody has to look at any more.
export type MoneyBackChange = MoneyBack & {
  notices: readonly MoneyBackNotice[]
  closes: readonly { kind: TaskKind; note: string }[]
}
