import { balanceOf } from '../../core/ledger/balance.ts'
import type { Mode } from '../../core/mode.ts'
import { startOfDay } from '../../core/zone.ts'
import type { Db, Tx } from '../../store/db.ts'
import { addSnapshot, lastSnapshot, sumsUntil } from '../../store/ledger/balances.ts'
import { hasTransfers } from '../../store/ledger/seals.ts'
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

// Stores the balances at the end of the last day, if there are transfers since the snapshot before. Returns whether it did.
export async function takeSnapshot(db: Db, merchant_id: string, zone: string, now: Date): Promise<boolean> {
  const until = startOfDay(new Date(now.getTime() - bookingLagMs), zone)
  const before = await lastSnapshot(db, merchant_id, now)
  if (before && before >= until) return false
  if (!(await hasTransfers(db, merchant_id, before, until))) return false
  await addSnapshot(db, merchant_id, before, until)
  return true
}
