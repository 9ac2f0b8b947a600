import type { Change } from '../../../core/payment/change.ts'
import type { Db } from '../../../store/db.ts'
import { type BeginItem, type Begun, beginMany, cappedBy } from './begin.ts'
import { type CancelItem, cancelMany } from './cancel.ts'
import { type ResolveItem, resolveMany } from './resolve.ts'
import { groupTransactions } from './groupTransactions.ts'

// What is decided about payments while their rows are held, many at once.
export type Decisions = {
  begin(item: BeginItem): Promise<Begun>
  resolve(item: ResolveItem): Promise<Change>
  cancel(item: CancelItem): Promise<void>
}

const made = new WeakMap<Db, Decisions>()

// One of each for all who use the same database.
export function decisionsOn(db: Db): Decisions {
  const decisions = made.get(db) ?? {
    begin: groupTransactions(db, 'pay', beginMany, cappedBy),
    resolve: groupTransactions(db, 'settle', resolveMany),
    cancel: groupTransactions(db, 'cancel', cancelMany),
  }
  made.set(db, decisions)
  return decisions
}
