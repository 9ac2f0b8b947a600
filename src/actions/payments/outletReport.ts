import type { Mode } from '../../core/mode.ts'
import { firstReferenceAt } from '../../core/payment/reference.ts'
import { startOfDay, startOfNextDay } from '../../core/zone.ts'
import type { Db, Tx } from '../../store/db.ts'
import {
  forgetLateChanges,
  inOneSnapshot,
  lateChangesBefore,
  lockProgress,
  periodsWith,
  removeHours,
  reportByOutlet,
  type ReportParts,
  type ReportRow,
  type ReportScope,
  saveProgress,
  storeSums,
  type SummedPeriod,
  summedPeriods,
} from '../../store/payments/reports.ts'

// How far the time in a reference may be ahead of its payment's: references never go back, clocks do.
const clockStepMs = 24 * 60 * 60_000

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
  scope: Omit<ReportScope, 'outlet'>,
  { from, until }: { from: Date; until: Date },
  isUsable: (period: SummedPeriod) => boolean = () => true,
): Promise<ReportParts> {
  const summed = withoutOverlaps((await summedPeriods(tx, scope, from, until)).filter(isUsable))
  return { summed, gaps: gapsBetween(summed, from, until).map(periodOf) }
}

// Periods overlap if the time zone was changed.
function withoutOverlaps(summed: readonly SummedPeriod[]): SummedPeriod[] {
  const used: SummedPeriod[] = []
  for (const one of summed) if ((used.at(-1)?.until_at ?? one.from_at) <= one.from_at) used.push(one)
  return used
}

function gapsBetween(summed: readonly SummedPeriod[], from: Date, until: Date) {
  const starts = [from, ...summed.map(({ until_at }) => until_at)]
  const ends = [...summed.map(({ from_at }) => from_at), until]
  return starts.flatMap((start, at) => {
    const end = ends[at] ?? until
    return start < end ? [{ from: start, until: end }] : []
  })
}

export const periodOf = ({ from, until }: { from: Date; until: Date }) => ({
  from,
  until,
  firstReference: firstReferenceAt(from),
  endReference: firstReferenceAt(new Date(until.getTime() + clockStepMs)),
})

const hourMs = 60 * 60_000
const dayMs = 24 * hourMs
const settledAfterMs = 2 * hourMs // a payment that changes after this is recorded as late: see lateChangeOf
const oldestDays = 400
const changesAtOnce = 1000
// With fewer payments in a period, reading them is as fast as reading sums.
const leastPayments = { day: 500, hour: 100 }

// Sums the next day of a merchant, the next hour if the day is not over, or the periods of payments that changed since they
// were summed. Returns whether there was anything to do. `least` is for tests.
export const sumPayments = (
  db: Db,
  scope: Omit<ReportScope, 'outlet'>,
  zone: string,
  now: Date,
  least = leastPayments,
): Promise<boolean> =>
  db.transaction(async tx => {
    const summedUntil = await lockProgress(tx, scope, new Date(now.getTime() - oldestDays * dayMs))
    if (!summedUntil) return false
    const sum = async (period: SummedPeriod, leastOfPeriod: number) => {
      const gaps = [periodOf({ from: period.from_at, until: period.until_at })]
      const rows = await reportByOutlet(tx, scope, { summed: [], gaps })
      if (rows.reduce((all, { payments }) => all + Number(payments), 0) >= leastOfPeriod)
        await storeSums(tx, scope, period, rows)
    }
    const changes = await lateChangesBefore(tx, scope, summedUntil, changesAtOnce)
    if (changes.length > 0) {
      const moments = changes.map(({ created_at }) => created_at)
      for (const period of await periodsWith(tx, scope, moments)) await sum(period, 0)
      await forgetLateChanges(tx, scope.merchant_id, changes)
      return true
    }
    const settledUntil = new Date(now.getTime() - settledAfterMs)
    const next = nextPeriod(summedUntil, zone, settledUntil)
    if (next.until_at > settledUntil) return false
    await sum(next, least[next.length])
    if (next.length === 'day') await removeHours(tx, scope, next)
    await saveProgress(tx, scope, next.until_at)
    return true
  })

function nextPeriod(
  summedUntil: Date,
  zone: string,
  settledUntil: Date,
): SummedPeriod & { length: 'day' | 'hour' } {
  const endOfDay = startOfNextDay(summedUntil, zone)
  if (endOfDay <= settledUntil)
    return { length: 'day', from_at: startOfDay(summedUntil, zone), until_at: endOfDay }
  const endOfHour = (Math.floor(summedUntil.getTime() / hourMs) + 1) * hourMs
  return {
    length: 'hour',
    from_at: summedUntil,
    until_at: new Date(Math.min(endOfHour, endOfDay.getTime())),
  }
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
