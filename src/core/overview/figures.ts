import type { Mode } from '../mode.ts'
import type { Currency } from '../money.ts'
import type { Status } from '../payment/payment.ts'
import { startOfDay, startOfNextDay } from '../zone.ts'

// The figures of a merchant's overview. They count payments by the time of their request and by their present status.

export const overviewPeriods = ['day', 'week', 'month'] as const
export type OverviewPeriod = (typeof overviewPeriods)[number]

const days: Record<OverviewPeriod, number> = { day: 1, week: 7, month: 30 }
const daysBack: Record<OverviewPeriod, number> = { day: 7, week: 7, month: 30 } // to what it is compared with

const hourMs = 3_600_000

// A period in slots: the hours of a day, or days. `until` is now; `sameTime` of the period before is as far as the present
// one has come.
export type Span = { slots: readonly Date[]; from: Date; until: Date }
export type Spans = { present: Span; before: Span & { sameTime: Date } }

export function overviewSpans(period: OverviewPeriod, zone: string, now: Date): Spans {
  const today = startOfDay(now, zone)
  const present = spanOf(period, dayBefore(today, days[period] - 1, zone), now, zone)
  const from = dayBefore(present.from, daysBack[period], zone)
  const lastDay = dayBefore(today, daysBack[period], zone)
  const end = startOfNextDay(lastDay, zone)
  const sameTime = new Date(Math.min(lastDay.getTime() + now.getTime() - today.getTime(), end.getTime()))
  return { present, before: { ...spanOf(period, from, end, zone), sameTime } }
}

function spanOf(period: OverviewPeriod, from: Date, until: Date, zone: string): Span {
  const last = period === 'day' ? startOfNextDay(from, zone) : until
  const slots: Date[] = []
  for (let at = from; at < last; at = next(period, at, zone)) slots.push(at)
  return { slots, from, until }
}

const next = (period: OverviewPeriod, at: Date, zone: string) =>
  period === 'day' ? new Date(at.getTime() + hourMs) : startOfNextDay(at, zone)

// Noon is on the right day, however the clocks changed.
const dayBefore = (start: Date, count: number, zone: string) =>
  count === 0 ? start : startOfDay(new Date(start.getTime() + 12 * hourMs - count * 24 * hourMs), zone)

// The payments of a slot, of which 1 is the first, of an outlet or of a payment method, with a status and a currency.
type Sums = { status: Status; currency: Currency; payments: bigint; total: bigint }
export type SlotRow = Sums & { by: 'slot'; slot: number }
export type NamedRow = Sums & { by: 'outlet' | 'method'; name: string | null }
export type CountedRow = SlotRow | NamedRow

// How payments ended. `left`: the customer left, or the time was over.
export type Ends = { paid: number; failed: number; left: number; waiting: number }

const endOf: Record<Status, keyof Ends> = {
  paid: 'paid',
  failed: 'failed',
  cancelled: 'left',
  awaiting_payment: 'waiting',
}

export const endedOf = ({ paid, failed, left }: Ends) => paid + failed + left

// Null: no payment has ended.
export const successRate = (ends: Ends) => (endedOf(ends) === 0 ? null : ends.paid / endedOf(ends))

export type Part = Ends & { name: string | null; total: Map<Currency, bigint> } // total: of what is paid

export type Figures = {
  ends: Ends
  paid: Map<Currency, bigint>
  byMethod: Part[]
  byOutlet: Part[]
  paidBySlot: (currency: Currency) => bigint[]
}

export function figuresOf(rows: readonly CountedRow[], slots: number): Figures {
  const inSlots = rows.filter(row => row.by === 'slot')
  const partsBy = (by: 'outlet' | 'method') => {
    const own = rows.filter((row): row is NamedRow => row.by === by)
    return [...new Set(own.map(({ name }) => name))]
      .map(name =>
        partOf(
          own.filter(row => row.name === name),
          name,
        ),
      )
      .sort((a, b) => endedOf(b) - endedOf(a))
  }
  const all = partOf(inSlots, null)
  return {
    ends: all,
    paid: all.total,
    byMethod: partsBy('method'),
    byOutlet: partsBy('outlet'),
    paidBySlot: currency =>
      Array.from({ length: slots }, (_, at) =>
        inSlots
          .filter(row => row.slot === at + 1 && row.status === 'paid' && row.currency === currency)
          .reduce((sum, { total }) => sum + total, 0n),
      ),
  }
}

function partOf(rows: readonly Sums[], name: string | null): Part {
  const part: Part = { name, paid: 0, failed: 0, left: 0, waiting: 0, total: new Map() }
  for (const { status, currency, payments, total } of rows) {
    part[endOf[status]] += Number(payments)
    if (status === 'paid') part.total.set(currency, (part.total.get(currency) ?? 0n) + total)
  }
  return part
}

export type OverviewScope = { merchant_id: string; mode: Mode }
