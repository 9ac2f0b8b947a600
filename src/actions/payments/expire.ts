import { Locked, Unavailable } from '../../core/interface/refusal.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import { expire } from '../../core/payment/end.ts'
import { byHalves } from '../../runtime/byHalves.ts'
import { createLeftOut, type LeftOut, type OnLeftOut } from '../../runtime/leftOut.ts'
import type { Db, Tx } from '../../store/db.ts'
import {
  attemptsOfMany,
  findExpired,
  lockExpired,
  lockFreePayments,
  lockPayments,
} from '../../store/payments/expired.ts'
import { type PaymentKey, paymentName } from '../../store/payments/paymentKeys.ts'
import type { PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import { takeUnlocked, waitBriefly } from '../../store/skipLocked.ts'
import { changeOf, type PaymentChange, writeOf } from './decisions/saveChange.ts'

const batch = 500

export type Expiry = (now: Date) => Promise<number>

// Ends payments whose time is over, many in one commit; gives back how many it has dealt with. Several nodes may do this
// at once: each holds what it ends, and takes what nobody holds. One that cannot be ended is left out for a while and
// told of; it keeps none of the others.
export function createExpiry(db: Db, onLeftOut: OnLeftOut): Expiry {
  const leftOut = createLeftOut(onLeftOut)
  return async now => {
    const before = leftOut.size()
    const ended = await endOldest(db, now, leftOut)
    leftOut.tell()
    return ended + Math.max(0, leftOut.size() - before)
  }
}

// For whoever wants to know of the first that cannot be ended.
export const expireDue = (db: Db, now: Date) =>
  createExpiry(db, ({ error }) => {
    throw error
  })(now)

async function endOldest(db: Db, now: Date, leftOut: LeftOut): Promise<number> {
  const keys = leftOut.keys()
  try {
    const ended = await takeUnlocked(db, {
      skipping: own =>
        own.transaction(async tx => {
          await waitBriefly(tx)
          return endThese(tx, await lockExpired(tx, now, keys, batch), now, leftOut)
        }),
      find: own => findExpired(own, now, keys, batch),
      waiting: async (tx, some) => endThese(tx, await lockPayments(tx, some), now, leftOut),
    })
    return ended.length
  } catch (error) {
    if (isOutOfReach(error)) throw error
    return endApart(db, await findExpired(db, now, keys, batch), now, leftOut)
  }
}

const endApart = (db: Db, keys: readonly PaymentKey[], now: Date, leftOut: LeftOut) =>
  byHalves(
    keys,
    some => endSome(db, some, now, leftOut),
    (error, alone) => {
      if (isOutOfReach(error)) throw error
      if (alone) leftOut.add([alone], error)
    },
  )

const endSome = async (db: Db, keys: readonly PaymentKey[], now: Date, leftOut: LeftOut) =>
  (
    await takeUnlocked(db, {
      skipping: own =>
        own.transaction(async tx => {
          await waitBriefly(tx)
          return endThese(tx, await lockFreePayments(tx, keys), now, leftOut)
        }),
      find: async () => keys,
      waiting: async (tx, some) => endThese(tx, await lockPayments(tx, some), now, leftOut),
    })
  ).length

// Under their locks. Those of which there is nothing to end now are not looked at again at once.
async function endThese(tx: Tx, payments: readonly PaymentWithMerchant[], now: Date, leftOut: LeftOut) {
  if (payments.length === 0) return []
  const attempts = new Map<string, Attempt[]>(payments.map(payment => [paymentName(payment), []]))
  for (const attempt of await attemptsOfMany(tx, payments)) attempts.get(paymentName(attempt))?.push(attempt)
  const changes = payments.flatMap(
    payment => decide(payment, attempts.get(paymentName(payment)) ?? [], now, leftOut) ?? [],
  )
  const write = writeOf(changes)
  if (write) void tx.lastly(write)
  return changes
}

function decide(
  payment: PaymentWithMerchant,
  attempts: readonly Attempt[],
  now: Date,
  leftOut: LeftOut,
): PaymentChange | undefined {
  try {
    const ended = expire(payment, attempts, now)
    if (ended) return changeOf(payment, ended.payment, ended.events)
    leftOut.add([payment])
  } catch (error) {
    leftOut.add([payment], error)
  }
  return undefined
}

// Then single tries would be in vain.
const isOutOfReach = (error: unknown) => error instanceof Unavailable && !(error instanceof Locked)
