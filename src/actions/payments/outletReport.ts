import type { Mode } from '../../core/mode.ts'
import { firstReferenceAt, timeOfReference } from '../../core/payment/reference.ts'
import {
  gapsBetween,
  hoursOf,
  nextPeriod,
  type SummedPeriod,
  withoutOverlaps,
} from '../../core/summedPeriods.ts'
import { startOfDay, startOfNextDay } from '../../core/zone.ts'
import type { Db, Tx } from '../../store/db.ts'
import {
  forgetLateChanges,
  inOneSnapshot,
  lateChangesBefore,
  isSummed,
  lockProgress,
  periodsWith,
  removeHours,
  reportByOutlet,
  type ReportParts,
  type ReportPeriod,
  type ReportRow,
  type ReportScope,
  saveProgress,
  storedPeriods,
  storeSums,
  sumPeriod,
} from '../../store/payments/reports.ts'

// How far the time in a reference may be ahead of its payment's: references never go back, clocks do.
const clockStepMs = 24 * 60 * 60_000

type SumScope = Omit<ReportScope, 'outlet'>
type ReportRequest = { merchant_id: string; mode: Mode; outlet?: string; from: Date; until: Date }
export type ReportTotal = Pick<ReportRow, 'status' | 'currency' | 'payments' | 'total'>
export type OutletReport = { rows: ReportRow[]; totals: ReportTotal[] }

// The payments that a merchant's outlets requested in a period, by their creation and present status. Whole days and hours
// that are summed already are not read again. All from one snapshot, so that a late change is counted once.
export const outletReport = (db: Db, { from, until, ...scope }: ReportRequest): Promise<OutletReport> =>
  inOneSnapshot(db, async tx => {
    const rows = await reportByOutlet(tx, scope, await reportParts(tx, scope, { from, until }))
    return { rows, totals: totalsOf(rows) }
  })

// What a report of a period reads: stored sums, and the payments of the rest. `isUsable` leaves out sums that are too long.
export async function reportParts(
  tx: Tx,
  scope: SumScope,
  { from, until }: { from: Date; until: Date },
  isUsable: (period: SummedPeriod) => boolean = () => true,
): Promise<ReportParts> {
  const stored = await storedPeriods(tx, scope, from, until)
  const isInside = ({ from_at, until_at }: SummedPeriod) => from_at >= from && until_at <= until
  const summed = withoutOverlaps(stored.filter(one => one.isRight && isInside(one) && isUsable(one)))
  const lastReferenceOf = (gap: { from: Date; until: Date }) =>
    stored.findLast(({ from_at, until_at }) => from_at <= gap.from && until_at >= gap.until)?.last_reference
  return {
    summed,
    gaps: gapsBetween(summed, { from, until }).map(gap => periodOf(gap, lastReferenceOf(gap))),
  }
}

// `lastReference`: no payment of the period has a later one.
export const periodOf = (
  { from, until }: { from: Date; until: Date },
  lastReference?: string | null,
): ReportPeriod => ({
  from,
  until,
  firstReference: firstReferenceAt(from),
  endReference: firstReferenceAt(
    new Date(lastReference ? timeOfReference(lastReference).getTime() + 1 : until.getTime() + clockStepMs),
  ),
})

const hourMs = 60 * 60_000
const dayMs = 24 * hourMs
const settledAfterMs = 2 * hourMs // a payment that changes after this is recorded as late: see lateChangeOf
const oldestDays = 400
// The overview compares with a part of a day, at most thirty days ago, so the hours of these days are kept.
const daysWithHours = 32
const changesAtOnce = 1000
// With fewer payments in a period, reading them is as fast as reading sums. Of a merchant with many payments a day all hours
// are stored, because a report of an hour may otherwise read the payments of a day.
const leastPayments = { day: 500, hour: 100 }

// Sums the next day of a merchant, the next hour if the day is not over, or the periods of payments that changed since they
// were summed. Returns whether there was anything to do. `least` is for tests.
export const sumPayments = (
  db: Db,
  scope: SumScope,
  zone: string,
  now: Date,
  least = leastPayments,
): Promise<boolean> =>
  db.transaction(async tx => {
    const summedUntil = await lockProgress(tx, scope, new Date(now.getTime() - oldestDays * dayMs))
    if (!summedUntil) return false
    const changes = await lateChangesBefore(tx, scope, summedUntil, changesAtOnce)
    if (changes.length > 0) {
      const moments = changes.map(({ created_at }) => created_at)
      for (const period of await periodsWith(tx, scope, moments)) await sum(tx, scope, period, [], 0)
      await forgetLateChanges(tx, scope.merchant_id, changes)
      return true
    }
    const settledUntil = new Date(now.getTime() - settledAfterMs)
    const next = nextPeriod(summedUntil, zone, settledUntil)
    if (next.until_at > settledUntil) return false
    if (next.length === 'day') {
      const hours = next.until_at > new Date(now.getTime() - daysWithHours * dayMs) ? hoursOf(next) : []
      const isStored = await sum(tx, scope, next, hours, least.day)
      if (!isStored || hours.length === 0) await removeHours(tx, scope, next)
      await removeHours(tx, scope, dayBefore(next, daysWithHours, zone))
    } else {
      const today = { ...next, from_at: startOfDay(next.from_at, zone) }
      const isBusy = await isSummed(tx, scope, dayBefore(today, 1, zone))
      await sum(tx, scope, next, [], isBusy ? 0 : least.hour)
    }
    await saveProgress(tx, scope, next.until_at)
    return true
  })

// Stores the sums of a period and of its parts, unless it has too few payments. Returns whether they are stored.
async function sum(
  tx: Tx,
  scope: SumScope,
  period: SummedPeriod & { last_reference?: string | null },
  parts: readonly SummedPeriod[],
  least: number,
) {
  const read = periodOf({ from: period.from_at, until: period.until_at }, period.last_reference)
  const moments = parts.map(({ from_at }) => from_at)
  const rows = await sumPeriod(tx, scope, read, moments)
  const whole = rows.filter(({ slot }) => slot === null)
  if (whole.reduce((all, { payments }) => all + Number(payments), 0) < least) return false
  const ofParts = parts.map((part, at) => ({
    period: part,
    rows: rows.filter(({ slot }) => slot === at + 1),
  }))
  await storeSums(tx, scope, [{ period, rows: whole }, ...ofParts])
  return true
}

function dayBefore({ from_at }: SummedPeriod, days: number, zone: string): SummedPeriod {
  const noon = new Date(from_at.getTime() + dayMs / 2 - days * dayMs)
  return { from_at: startOfDay(noon, zone), until_at: startOfNextDay(noon, zone) }
}

// Over all outlets and payment methods. Never over statuses: paid and unpaid amounts do not add up.
function totalsOf(rows: readonly ReportRow[]): ReportTotal[] {
  const totals = new Map<string, ReportTotal>()
  for (const { status, currency, payments, total } of rows) {
    const key = `${status} ${currency}`
    const before = totals.get(key) ?? { status, currency, payments: 0n, total: 0n }
    totals.set(key, { ...before, payments: before.payments + payments, total: before.total + total })
  }
  return [...totals].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, total]) => total)
}
