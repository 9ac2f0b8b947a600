import { gapsBetween, nextPeriod, withoutOverlaps } from '../../core/summedPeriods.ts'
import type { Db } from '../../store/db.ts'
import {
  type ClosingRow,
  closingRows,
  lockClosingProgress,
  removeClosingHours,
  saveClosingProgress,
  storeClosing,
  summedClosings,
} from '../../store/ledger/closing.ts'
import type { MoneyPeriod, MoneyScope } from '../../store/ledger/merchantMoney.ts'
import { nextTransferAt } from '../../store/ledger/transfers.ts'
import { inOneSnapshot } from '../../store/payments/reports.ts'
import { bookingLagMs } from './seal.ts'

const hourMs = 60 * 60_000
// With fewer transfers in a period, reading them is as fast as reading sums.
const leastTransfers = { day: 500, hour: 100 }

// What was paid, and what else changed the balance, in a period by the time of booking. From one snapshot, so that a period
// that is summed at that moment is counted once.
export const closingOf = (db: Db, scope: MoneyScope, period: MoneyPeriod): Promise<ClosingRow[]> =>
  inOneSnapshot(db, async tx => {
    const summed = withoutOverlaps(await summedClosings(tx, scope, period))
    return closingRows(tx, scope, { summed, gaps: gapsBetween(summed, period) })
  })

// Sums the next day of a merchant that has transfers, or the next hour if the day is not over. Transfers are only added, with
// the time of the database, so a sum stays right. Returns whether there was anything to do. `least` is for tests.
export const sumClosing = (
  db: Db,
  scope: MoneyScope,
  zone: string,
  now: Date,
  least = leastTransfers,
): Promise<boolean> =>
  db.transaction(async tx => {
    const settledUntil = new Date(now.getTime() - bookingLagMs)
    const progress = await lockClosingProgress(tx, scope, new Date(0))
    const next = await nextTransferAt(tx, scope.merchant_id, progress, settledUntil)
    if (!next) return false
    const startOfHour = new Date(Math.floor(next.getTime() / hourMs) * hourMs)
    const period = nextPeriod(startOfHour < progress ? progress : startOfHour, zone, settledUntil)
    if (period.until_at > settledUntil) return false
    const gap = { from: period.from_at, until: period.until_at }
    const rows = await closingRows(tx, scope, { summed: [], gaps: [gap] })
    if (rows.reduce((sum, { transfers }) => sum + transfers, 0n) >= least[period.length])
      await storeClosing(tx, scope, period, rows)
    if (period.length === 'day') await removeClosingHours(tx, scope, period)
    await saveClosingProgress(tx, scope, period.until_at)
    return true
  })
