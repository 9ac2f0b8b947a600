import type { Period } from '../../../actions/money/merchantMoney.ts'
import { localTime, startOfDay, startOfNextDay } from '../../../core/zone.ts'
import type { Ctx } from '../../http/context.ts'
import type { ZonedDates } from '../frame/zonedDates.ts'

export type DayRange = Period & { first: string; last: string } // 2026-11-17, both included

const maxStatementDays = 366
export const maxClosingDays = 31
const dayMs = 86_400_000

// The beginning of a day such as 2026-11-17 in a time zone. Undefined if there is no such day.
export function dayStart(text: string, zone: string): Date | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (!match || !text.startsWith('20')) return undefined
  const noon = new Date(`${text}T12:00:00Z`)
  if (Number.isNaN(noon.getTime()) || noon.toISOString().slice(0, 10) !== text) return undefined
  // Noon in UTC may be the day after or before in a zone far away.
  return [0, -dayMs, dayMs]
    .map(shift => startOfDay(new Date(noon.getTime() + shift), zone))
    .find(start => isoDay(start, zone) === text)
}

export const isoDay = (at: Date, zone: string) => localTime(at, zone).day

// Two days of the address, both included. Undefined: they are wrong.
export function readRange(
  first: string,
  last: string,
  zone: string,
  maxDays = maxStatementDays,
): DayRange | undefined {
  const [from, lastStart] = [dayStart(first, zone), dayStart(last, zone)]
  if (!from || !lastStart || lastStart < from) return undefined
  if (lastStart.getTime() - from.getTime() > (maxDays - 0.5) * dayMs) return undefined
  return { first, last, from, until: startOfNextDay(lastStart, zone) }
}

export type NamedRange = { name: 'today' | 'week' | 'month'; first: string; last: string }

export function namedRanges(now: Date, zone: string, dates: Pick<ZonedDates, 'iso'>): NamedRange[] {
  const last = dates.iso(now)
  const noon = startOfDay(now, zone).getTime() + dayMs / 2
  return [
    { name: 'today', first: last, last },
    { name: 'week', first: dates.iso(new Date(noon - 6 * dayMs)), last },
    { name: 'month', first: `${last.slice(0, 8)}01`, last },
  ]
}

// The range of the address; without one it is today. `isWrong`: what was typed is no range.
export function rangeOf(c: Ctx, now: Date, zone: string, maxDays?: number): DayRange & { isWrong: boolean } {
  const today = isoDay(now, zone)
  const [from, to] = [c.req.query('from'), c.req.query('to')]
  const range = readRange(from ?? today, to ?? today, zone, maxDays)
  if (range) return { ...range, isWrong: false }
  const start = startOfDay(now, zone)
  return { first: today, last: today, from: start, until: startOfNextDay(start, zone), isWrong: true }
}

// The days of a range, each as a period.
export function daysOf({ from, until }: Period, zone: string): Period[] {
  const days: Period[] = []
  for (let at = from; at < until; at = startOfNextDay(at, zone))
    days.push({ from: at, until: startOfNextDay(at, zone) })
  return days
}
