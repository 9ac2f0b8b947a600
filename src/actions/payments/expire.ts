import type { Attempt } from '../../core/payment/attempt.ts'
import { decideExpiry } from '../../core/payment/expiry.ts'
import type { ObserveStatuses } from '../../runtime/localWorkers.ts'
import {
  bisectBatch,
  createSkippedRows,
  type OnSkippedRow,
  type SkippedRows,
} from '../../runtime/skippedRows.ts'
import { isUnavailable } from '../../store/databaseErrors.ts'
import type { Db, Tx } from '../../store/db.ts'
import { attemptsOfMany } from '../../store/payments/attempts.ts'
import {
  type ExpiryPosition,
  type ExpirySearch,
  findExpired,
  lockExpired,
  selectByKeys,
  takePayments,
} from '../../store/payments/locks.ts'
import { paymentName } from '../../store/payments/paymentKeys.ts'
import type { PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import { changeOf, statementOf } from './writeChanges.ts'

const batch = 500
const sweepEveryMs = 60_000

// `searchedUntil`: payments that expired earlier were searched. `isSweepDue`: the next search starts from the oldest again.
type Expiry = { (now: Date): Promise<number>; searchedUntil(): Date; isSweepDue(): boolean }

// Ends expired payments, many in one commit, and returns how many it has handled. Several nodes do this at once: each locks
// the payments that it ends, and skips those that others have locked. A payment that cannot be ended is left out for a while
// and reported; it does not stop the rest.
//
// A payment with an unresolved attempt stays open after it has expired, and there may be very many of these while a
// provider is down. So a search continues behind the last payment of the previous search, and reads only what has expired
// since. Once a minute it starts from the oldest again, for payments that could not be ended before: their attempt was
// unresolved, or another transaction had locked them. Most payments do not wait for that: an attempt that fails ends its
// payment in the same transaction.
export function createExpiry(db: Db, onSkipped: OnSkippedRow, onEnded: ObserveStatuses = () => {}): Expiry {
  const skipped = createSkippedRows(onSkipped)
  let behind: ExpiryPosition | undefined
  let sweptAtMs = -Infinity
  const isSweepDue = () => performance.now() - sweptAtMs >= sweepEveryMs
  async function expire(now: Date): Promise<number> {
    if (isSweepDue()) {
      behind = undefined
      sweptAtMs = performance.now()
    }
    const skippedBefore = skipped.size()
    const { ended, last } = await endOldest(db, { now, behind, leftOut: skipped.keys() }, skipped, onEnded)
    behind = last
    skipped.report()
    return ended + Math.max(0, skipped.size() - skippedBefore)
  }
  return Object.assign(expire, { searchedUntil: () => behind?.expires_at ?? new Date(0), isSweepDue })
}

type SearchResult = { ended: number; last: ExpiryPosition | undefined } // the next search continues behind `last`

async function endOldest(
  db: Db,
  search: ExpirySearch,
  skipped: SkippedRows,
  onEnded: ObserveStatuses,
): Promise<SearchResult> {
  const end = (tx: Tx, payments: readonly PaymentWithMerchant[]) =>
    endPayments(tx, payments, search.now, skipped)
  let found: readonly ExpiryPosition[] = []
  const oldest = {
    lock: async (tx: Tx) => {
      const payments = await lockExpired(tx, search, batch)
      found = payments
      return payments
    },
    find: async (tx: Tx) => (found = await findExpired(tx, search, batch)),
  }
  try {
    const ended = await takePayments(db, oldest, end)
    onEnded(ended)
    return { ended: ended.length, last: lastRead(search, found) }
  } catch (error) {
    if (isUnavailable(error)) throw error
    const keys = await findExpired(db, search, batch)
    const ended = await bisectBatch(
      keys,
      async some => {
        const changes = await takePayments(db, selectByKeys(some), end)
        onEnded(changes)
        return changes.length
      },
      skipped,
    )
    return { ended, last: search.behind }
  }
}

// A search that found less than a batch has read everything up to its time.
const lastRead = ({ now }: ExpirySearch, found: readonly ExpiryPosition[]): ExpiryPosition | undefined =>
  found.length < batch ? { expires_at: now, merchant_id: '', tx_reference: '' } : found.at(-1)

// The rows of the payments are locked. An error of one payment does not stop the others.
async function endPayments(
  tx: Tx,
  payments: readonly PaymentWithMerchant[],
  now: Date,
  skipped: SkippedRows,
) {
  if (payments.length === 0) return []
  const attempts = new Map<string, Attempt[]>(payments.map(payment => [paymentName(payment), []]))
  for (const attempt of await attemptsOfMany(tx, payments)) attempts.get(paymentName(attempt))?.push(attempt)
  const changes = payments.flatMap(payment => {
    try {
      const ended = decideExpiry(payment, attempts.get(paymentName(payment)) ?? [], now)
      return ended ? [changeOf(payment, ended.payment, ended.events)] : []
    } catch (error) {
      skipped.add([payment], error)
      return []
    }
  })
  const statement = statementOf(tx, changes)
  if (statement) void tx.writeWithCommit(statement)
  return changes
}
