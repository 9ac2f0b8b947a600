import type { Change } from '../../../core/payment/change.ts'
import type { Db } from '../../../store/db.ts'
import { type BeginItem, type Begun, begin, cappedBy } from './begin.ts'
import { type CancelItem, cancel } from './cancel.ts'
import { type SettleItem, settle } from './settle.ts'
import { shareTransactions } from './sharing.ts'

// What is decided about payments while their rows are held, many at once.
export type Decisions = {
  begin(item: BeginItem): Promise<Begun>
  settle(item: SettleItem): Promise<Change>
  cancel(item: CancelItem): Promise<void>
}

const made = new WeakMap<Db, Decisions>()

// One of each for all who use the same database.
export function decisionsOn(db: Db): Decisions {
  const decisions = made.get(db) ?? {
    begin: shareTransactions(db, 'pay', begin, cappedBy),
    settle: shareTransactions(db, 'settle', settle),
    cancel: shareTransactions(db, 'cancel', cancel),
  }
  made.set(db, decisions)
  return decisions
}
