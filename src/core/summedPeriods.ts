import { startOfDay, startOfNextDay } from './zone.ts'

// Sums of whole days, and of hours. They are stored, so that a report of a month does not
// read every row.
export type SummedPeriod = { from_at: Date; until_at: Date } // the end is not included
type Period = { from: Date; until: Date }

const hourMs = 60 * 60_000

// Periods overlap if the time zone was changed. In the order of their beginning, a longer one first.
export function withoutOverlaps(summed: readonly SummedPeriod[]): SummedPeriod[] {
  const used: SummedPeriod[] = []
  for (const one of summed) if ((used.at(-1)?.until_at ?? one.from_at) <= one.from_at) used.push(one)
  return used
}

// What of a period is not summed.
export function gapsBetween(summed: readonly SummedPeriod[], { from, until }: Period): Period[] {
  const starts = [from, ...summed.map(({ until_at }) => until_at)]
  const ends = [...summed.map(({ from_at }) => from_at), until]
  return starts.flatMap((start, at) => {
    const end = ends[at] ?? until
    return start < end ? [{ from: start, until: end }] : []
  })
}

// The period to sum next: the day, if it has ended by then, or else the hour.
export function nextPeriod(
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

export function hoursOf({ from_at, until_at }: SummedPeriod): SummedPeriod[] {
  const hours: SummedPeriod[] = []
  for (let at = from_at.getTime(); at < until_at.getTime(); at += hourMs)
    hours.push({ from_at: new Date(at), until_at: new Date(Math.min(at + hourMs, until_at.getTime())) })
  return hours
}
