import type { Tx } from '../../store/db.ts'
import { countEndedBefore } from '../../store/redaction/redaction.ts'

const dayMs = 24 * 3_600_000
const counted = 10_000

export type Retention = {
  days: number
  waiting: number // payments whose personal data is due, or kept because something about them is open
  isMore: boolean // more than were counted
  next?: Date // when the data of a further payment is due
}

// What the redaction has to do, for the page of the operator. Undefined if it is off.
export async function readRetention(
  tx: Tx,
  days: number | undefined,
  now: Date,
): Promise<Retention | undefined> {
  if (days === undefined) return undefined
  const { waiting, next } = await countEndedBefore(tx, new Date(now.getTime() - days * dayMs), counted)
  return {
    days,
    waiting,
    isMore: waiting === counted,
    ...(next && { next: new Date(next.getTime() + days * dayMs) }),
  }
}
