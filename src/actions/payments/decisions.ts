import type { LocalWorkers } from '../../runtime/localWorkers.ts'
import type { PaymentDecisions } from '../../runtime/paymentDecisions.ts'
import type { Db } from '../../store/db.ts'
import { cancelMany } from './cancel.ts'
import { groupTransactions } from './groupTransactions.ts'
import { beginMany, cappedBy } from './pay.ts'
import { resolveMany } from './resolveAttempt.ts'

// The decisions of one process. All callers share them, so that decisions can share transactions.
export const createDecisions = (db: Db, local: LocalWorkers): PaymentDecisions => ({
  begin: groupTransactions(db, local, 'pay', beginMany, cappedBy),
  resolve: groupTransactions(db, local, 'resolve', resolveMany),
  cancel: groupTransactions(db, local, 'cancel', cancelMany),
})
