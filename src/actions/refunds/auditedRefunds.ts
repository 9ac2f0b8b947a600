import type { Actor } from '../../core/access/audit.ts'
import { type RefundAction, refundEntry } from '../../core/access/auditEntries.ts'
import type { Db } from '../../store/db.ts'
import { auditedDb } from '../access/audit.ts'
import type { CreateRefundResult } from './createRefund.ts'
import type { RecordResult } from './storeRefundRecord.ts'

// A Db that records the refund that is created, retried or recorded with it, in the same commit.
export const auditedRefunds = (db: Db, actor: Actor, now: Date, action: RefundAction): Db =>
  auditedDb(db, actor, now, (result: { answer: CreateRefundResult | RecordResult } | undefined) => {
    const answer = result?.answer
    if (!answer || 'fault' in answer) return undefined
    return answer.done === 'created' || answer.done === 'recorded'
      ? refundEntry(action, answer.refund)
      : undefined
  })
