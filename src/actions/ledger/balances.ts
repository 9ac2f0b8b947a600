import { balanceOf } from '../../core/ledger/balance.ts'
import type { Mode } from '../../core/mode.ts'
import { startOfDay, startOfNextDay } from '../../core/zone.ts'
import type { Db, Tx } from '../../store/db.ts'
import { addSnapshot, lastSnapshot, sumsUntil } from '../../store/ledger/balances.ts'
import { nextTransferAt } from '../../store/ledger/transfers.ts'
import { bookingLagMs } from './seal.ts'

export type AccountBalance = { mode: Mode; currency: string; account: string; balance: bigint }

// The balances of a merchant's accounts at a moment: those at the end of an earlier day, and the transfers since then.
export async function balancesAt(tx: Tx, merchant_id: string, at: Date): Promise<AccountBalance[]> {
  const sums = await sumsUntil(tx, merchant_id, await lastSnapshot(tx, merchant_id, at), at)
  return sums.map(({ mode, currency, account, debits, credits }) => ({
    mode,
    currency,
    account,
    balance: balanceOf(account, debits, credits),
  }))
}

// Stores the balances at the end of the next day that has transfers and is over. Returns whether there was one: after a pause of
// the workers several days have none yet, and a statement that begins on one of them would sum all days since the last.
export async function takeSnapshot(db: Db, merchant_id: string, zone: string, now: Date): Promise<boolean> {
  const endOfDays = startOfDay(new Date(now.getTime() - bookingLagMs), zone)
  const before = await lastSnapshot(db, merchant_id, now)
  const next = await nextTransferAt(db, merchant_id, before, endOfDays)
  if (!next) return false
  await addSnapshot(db, merchant_id, before, startOfNextDay(next, zone))
  return true
}
