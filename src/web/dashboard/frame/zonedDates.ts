import type { Lang } from '../../../core/languages/languages.ts'
import { localTime } from '../../../core/zone.ts'

// Dates and times of a merchant's pages, in the language of the user and the time zone of the installation.

const formats = new Map<string, Intl.DateTimeFormat>() // creating one is slow

function formatOf(lang: Lang, zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${lang} ${zone} ${JSON.stringify(options)}`
  const locale = lang === 'fr' ? 'fr-FR' : 'en-GB'
  const format =
    formats.get(key) ?? new Intl.DateTimeFormat(locale, { timeZone: zone, hourCycle: 'h23', ...options })
  formats.set(key, format)
  return format
}

export type ZonedDates = {
  time(at: Date): string // 14:58
  date(at: Date): string // 17 Nov
  fullDate(at: Date): string // 17 November 2026
  longDay(at: Date): string // Tuesday 17 November
  weekday(at: Date): string // Tuesday
  moment(at: Date): string // 17 Nov, 14:58
  hour(at: Date): string // 14
  iso(at: Date): string // 2026-11-17, as a date field and an address have it
}

export function zonedDates(lang: Lang, zone: string): ZonedDates {
  const time = { hour: '2-digit', minute: '2-digit' } as const
  const date = { day: 'numeric', month: 'short' } as const
  const as = (options: Intl.DateTimeFormatOptions) => (at: Date) => formatOf(lang, zone, options).format(at)
  return {
    time: as(time),
    date: as(date),
    fullDate: as({ day: 'numeric', month: 'long', year: 'numeric' }),
    longDay: at => as({ weekday: 'long', day: 'numeric', month: 'long' })(at).replace(',', ''),
    weekday: as({ weekday: 'long' }),
    moment: at => `${as(date)(at)}, ${as(time)(at)}`,
    hour: at => as(time)(at).slice(0, 2),
    iso: at => localTime(at, zone).day,
  }
}
