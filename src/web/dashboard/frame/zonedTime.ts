import type { Lang } from '../../../core/languages/languages.ts'

const formats = new Map<string, Intl.DateTimeFormat>() // creating one is slow

function formatOf(zone: string, options: Intl.DateTimeFormatOptions, locale = 'en-GB'): Intl.DateTimeFormat {
  const key = `${locale} ${zone} ${JSON.stringify(options)}`
  const format =
    formats.get(key) ?? new Intl.DateTimeFormat(locale, { timeZone: zone, hourCycle: 'h23', ...options })
  formats.set(key, format)
  return format
}

// 14:58, in the time zone of the installation.
export const zonedMinute = (at: Date, zone: string) =>
  formatOf(zone, { hour: '2-digit', minute: '2-digit' }).format(at)

// 14:58:04
export const zonedSecond = (at: Date, zone: string) =>
  formatOf(zone, { hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(at)

const locales: Record<Lang, string> = { en: 'en-GB', fr: 'fr-FR' }

// 16 Nov 14:58
export const zonedDayMinute = (at: Date, zone: string, lang: Lang) =>
  formatOf(zone, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }, locales[lang])
    .format(at)
    .replace(',', '')

// 12 min, 6 h, 3 d: how long ago.
export function shortAge(at: Date, now: Date, lang: Lang): string {
  const minutes = Math.max(0, Math.floor((now.getTime() - at.getTime()) / 60_000))
  if (minutes < 60) return `${minutes} min`
  return minutes < 48 * 60
    ? `${Math.floor(minutes / 60)} h`
    : `${Math.floor(minutes / 1440)} ${lang === 'fr' ? 'j' : 'd'}`
}
