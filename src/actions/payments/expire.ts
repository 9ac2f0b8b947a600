import { Locked, Unavailable } from '../../core/interface/refusal.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import { decideExpiry } from '../../core/payment/expiry.ts'
import { bisectBatch } from '../../runtime/skippedRows.ts'
import { createSkippedRows, type OnSkippedRow, type SkippedRows } from '../../runtime/skippedRows.ts'
import type { Db, Tx } from '../../store/db.ts'
import { attemptsOfMany } from '../../store/payments/attempts.ts'
import {
  type ExpiryPosition,
  type ExpirySearch,
  findExpired,
  lockExpired,
  lockFreePayments,
  lockPayments,
} from '../../store/payments/locks.ts'
import { type PaymentKey, paymentName } from '../../store/payments/paymentKeys.ts'
import type { PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import { takeUnlocked, setShortLockTimeout } from '../../store/skipLocked.ts'
import { changeOf, type PaymentChange, statementOf } from './writeChanges.ts'

const batch = 500
const sweepEveryMs = 60_000

export type Expiry = (now: Date) => Promise<number>

// Ends expired payments, many in one commit, and returns how many it has handled. Several nodes do this at once: each locks
// the payments that it ends, and skips those that others have locked. A payment that cannot be ended is left out for a while
// and reported; it does not stop the rest.
//
// A payment with an unresolved attempt stays open after it has expired, and there may be very many of these while a
// provider is down. So a search continues behind the last payment of the previous search, and reads only what has expired
// since. Once a minute it starts from the oldest again, for payments that could not be ended before: their attempt was
// unresolved, or another transaction had locked them. Most payments do not wait for that: an attempt that fails ends its
// payment in the same transaction.
export function createExpiry(db: Db, onLeftOut: OnSkippedRow): Expiry {
  const leftOut = createSkippedRows(onLeftOut)
  let behind: ExpiryPosition | undefined
  let sweptAtMs = -Infinity
  return async now => {
    if (performance.now() - sweptAtMs >= sweepEveryMs) {
      behind = undefined
      sweptAtMs = performance.now()
    }
    const before = leftOut.size()
    const search = { now, behind, leftOut: leftOut.keys() }
    const { ended, last } = await endOldest(db, search, leftOut)
    behind = last
    leftOut.report()
    return ended + Math.max(0, leftOut.size() - before)
  }
}

// For a caller that wants the first error thrown. It starts from the oldest.
export const expireDue = (db: Db, now: Date) =>
  createExpiry(db, ({ error }) => {
    throw error
  })(now)

type Searched = { ended: number; last: ExpiryPosition | undefined } // where the next search continues

async function endOldest(db: Db, search: ExpirySearch, leftOut: SkippedRows): Promise<Searched> {
  const { now } = search
  let seen: readonly ExpiryPosition[] = []
  try {
    const ended = await takeUnlocked(db, {
      skipping: own =>
        own.transaction(async tx => {
          await setShortLockTimeout(tx)
          const payments = await lockExpired(tx, search, batch)
          seen = payments
          return endThese(tx, payments, now, leftOut)
        }),
      find: async own => (seen = await findExpired(own, search, batch)),
      waiting: async (tx, some) => endThese(tx, await lockPayments(tx, some), now, leftOut),
    })
    return { ended: ended.length, last: endOf(search, seen) }
  } catch (error) {
    if (isUnreachable(error)) throw error
    const keys = await findExpired(db, search, batch)
    return { ended: await endApart(db, keys, now, leftOut), last: search.behind }
  }
}

// A search that found less than a batch has read everything up to its time.
const endOf = ({ now }: ExpirySearch, seen: readonly ExpiryPosition[]): ExpiryPosition | undefined =>
  seen.length < batch ? { expires_at: now, merchant_id: '', tx_reference: '' } : seen.at(-1)

const endApart = (db: Db, keys: readonly PaymentKey[], now: Date, leftOut: SkippedRows) =>
  bisectBatch(
    keys,
    some => endSome(db, some, now, leftOut),
    (error, alone) => {
      if (isUnreachable(error)) throw error
      if (alone) leftOut.add([alone], error)
    },
  )

const endSome = async (db: Db, keys: readonly PaymentKey[], now: Date, leftOut: SkippedRows) =>
  (
    await takeUnlocked(db, {
      skipping: own =>
        own.transaction(async tx => {
          await setShortLockTimeout(tx)
          return endThese(tx, await lockFreePayments(tx, keys), now, leftOut)
        }),
      find: async () => keys,
      waiting: async (tx, some) => endThese(tx, await lockPayments(tx, some), now, leftOut),
    })
  ).length

// The rows of the payments are locked.
async function endThese(tx: Tx, payments: readonly PaymentWithMerchant[], now: Date, leftOut: SkippedRows) {
  if (payments.length === 0) return []
  const attempts = new Map<string, Attempt[]>(payments.map(payment => [paymentName(payment), []]))
  for (const attempt of await attemptsOfMany(tx, payments)) attempts.get(paymentName(attempt))?.push(attempt)
  const changes = payments.flatMap(
    payment => decide(payment, attempts.get(paymentName(payment)) ?? [], now, leftOut) ?? [],
  )
  const statement = statementOf(changes)
  if (statement) void tx.writeWithCommit(statement)
  return changes
}

function decide(
  payment: PaymentWithMerchant,
  attempts: readonly Attempt[],
  now: Date,
  leftOut: SkippedRows,
): PaymentChange | undefined {
  try {
    const ended = decideExpiry(payment, attempts, now)
    if (ended) return changeOf(payment, ended.payment, ended.events)
  } catch (error) {
    leftOut.add([payment], error)
  }
  return undefined
}

// Then trying single payments is useless.
const isUnreachable = (error: unknown) => error instanceof Unavailable && !(error instanceof Locked)
