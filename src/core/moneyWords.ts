import { type Currency, formatMoney } from './money.ts'

const formats = new Map<string, Intl.NumberFormat>() // to make one takes long, and there are few

// Money as the readers of a language write it, with the code of its currency, which means one thing everywhere: GHS
// 1,234.50 in English, 1 234,50 GHS in French. It is written from the digits and never a float, so it is exact. What
// Intl puts between the parts does not break; before a number that follows its code it is a plain space, as in every
// other place where people meet that amount.
export const moneyWords = (minor: bigint, currency: Currency, locale: string) =>
  formatOf(currency, locale)
    .format(formatMoney(minor) as Intl.StringNumericLiteral)
    .replace(/^([A-Z]{3})\u00a0/, '$1 ')

// The same without the code, for a column of them.
export const figureWords = (minor: bigint, locale: string) =>
  moneyWords(minor, 'GHS', locale).replace(/\s?GHS\s?/, '')

function formatOf(currency: Currency, locale: string): Intl.NumberFormat {
  const name = `${locale} ${currency}`
  const known =
    formats.get(name) ??
    new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay: 'code' })
  formats.set(name, known)
  return known
}
