const formats = new Map<string, Intl.DateTimeFormat>() // creating one is slow

export function isTimeZone(zone: string): boolean {
  try {
    formatIn(zone)
    return true
  } catch {
    return false
  }
}

function formatIn(zone: string): Intl.DateTimeFormat {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'medium',
      hourCycle: 'h23',
    })
  formats.set(zone, format)
  return format
}

// How far the clocks of the zone are ahead of UTC at a moment.
function offsetMs(at: Date, zone: string): number {
  const parts = Object.fromEntries(
    formatIn(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at.getTime() / 1000) * 1000
}

const dayMs = 86_400_000

// The moment when the clocks of the zone show this UTC time. The offset may change between the two guesses.
function momentOf(localMs: number, zone: string): Date {
  const guess = new Date(localMs - offsetMs(new Date(localMs), zone))
  return new Date(localMs - offsetMs(guess, zone))
}

const localMidnight = (at: Date, zone: string) =>
  Math.floor((at.getTime() + offsetMs(at, zone)) / dayMs) * dayMs

// The beginning of the day that contains a moment, and of the day after it.
export const startOfDay = (at: Date, zone: string): Date => momentOf(localMidnight(at, zone), zone)
export const startOfNextDay = (at: Date, zone: string): Date =>
  momentOf(localMidnight(at, zone) + dayMs, zone)

// The beginning of a day such as 2026-11-17.
export const startOfDate = (day: string, zone: string): Date => momentOf(Date.parse(`${day}T00:00:00Z`), zone)

// What the clocks of the zone show: 2026-11-17 and 14:57:31.
export function localTime(at: Date, zone: string): { day: string; time: string } {
  const iso = new Date(Math.floor(at.getTime() / 1000) * 1000 + offsetMs(at, zone)).toISOString()
  return { day: iso.slice(0, 10), time: iso.slice(11, 19) }
}
