import type { Actor } from '../../core/access/audit.ts'
import type { RefundRecord } from '../../core/refund/recordRefund.ts'
import { isPlainText } from '../../core/text.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import type { Db } from '../../store/db.ts'
import { findRefundByReference } from '../../store/refunds/merchantRefunds.ts'
import { type NamedRefund, refundsToRecord } from '../../store/refunds/refundsOfOperator.ts'
import { auditedRefunds } from './auditedRefunds.ts'
import { listWaitingApprovals } from './listApprovals.ts'
import { storeRefundRecord } from './storeRefundRecord.ts'

const maxReference = 100
const maxNote = 500

export type { NamedRefund }

// What waits for a person: refunds to approve, and refunds whose outcome only a person can find out.
export async function readOperatorRefunds(db: Db, now: Date) {
  const [approvals, refunds] = await Promise.all([listWaitingApprovals(db, 'all', now), refundsToRecord(db)])
  return { approvals, refunds }
}

export type TypedRecord = { outcome: string; at: string; reference: string; note: string }
export type RecordFault = 'outcome' | 'at' | 'reference' | 'note'

const isLine = (text: string, max: number) => text !== '' && text.length <= max && isPlainText(text)

// A day or a time, such as 2026-05-31T18:00Z. It must not be in the future.
function readTime(text: string, now: Date): Date | undefined {
  if (!/^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2})?Z?)?$/.test(text)) return undefined
  const time = text.length === 10 ? `${text}T00:00:00Z` : `${text.replace(' ', 'T').replace(/Z$/, '')}Z`
  const at = new Date(time)
  return Number.isNaN(at.getTime()) || at > now ? undefined : at
}

export function readRefundRecord(
  { outcome, at, reference, note }: TypedRecord,
  by: string,
  now: Date,
): RefundRecord | RecordFault {
  if (outcome === 'failed') return isLine(note, maxNote) ? { by, outcome: { done: 'failed', note } } : 'note'
  if (outcome !== 'succeeded') return 'outcome'
  const time = readTime(at, now)
  if (!time) return 'at'
  return isLine(reference, maxReference)
    ? { by, outcome: { done: 'succeeded', at: time, reference } }
    : 'reference'
}

type RecordDeps = Pick<PaymentDeps, 'db' | 'localWorkers' | 'watch'>
type RefundName = { merchant_id: string; refund_reference: string }

// Twice the same is once: the second finds the refund in another state.
export async function recordAsOperator(
  deps: RecordDeps,
  { merchant_id, refund_reference }: RefundName,
  record: RefundRecord,
  actor: Actor,
  now: Date,
): Promise<'recorded' | 'already' | undefined> {
  if (!isPlainText(merchant_id + refund_reference)) return undefined
  const refund = await findRefundByReference(deps.db, { merchant_id, refund_reference })
  if (!refund) return undefined
  const recorded = { ...deps, db: auditedRefunds(deps.db, actor, now, 'refund.record') }
  const { done } = await storeRefundRecord(recorded, refund, record, now)
  return done === 'recorded' ? 'recorded' : 'already'
}
