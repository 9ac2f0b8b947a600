import { type Currency, decimalsOf, formatMoney } from './money.ts'

const formats = new Map<string, Intl.NumberFormat>() // to make one takes long, and there are few

// Money as the readers of a language write it, with the code of its currency, which means one thing everywhere: GHS
// 1,234.50 in English, 1 234,50 GHS in French. It is written from the digits and never a float, so it is exact. What
// Intl puts between the parts does not break; before a number that follows its code it is a plain space, as in every
// other place where people meet that amount.
export const moneyWords = (minor: bigint, currency: Currency, locale: string) =>
  formatOf(currency, locale)
    .format(formatMoney(minor, currency) as Intl.StringNumericLiteral)
    .replace(/^([A-Z]{3})\u00a0/, '$1 ')

// The same without the code, for a column of them.
export const figureWords = (minor: bigint, currency: Currency, locale: string) =>
  figures(currency, locale).format(formatMoney(minor, currency) as Intl.StringNumericLiteral)

const formatOf = (currency: Currency, locale: string) =>
  known(`${locale} ${currency}`, locale, {
    style: 'currency',
    currency,
    currencyDisplay: 'code',
    ...digitsOf(currency),
  })

const figures = (currency: Currency, locale: string) =>
  known(`${locale} ${decimalsOf(currency)}`, locale, digitsOf(currency))

// Ours, and not those that Intl thinks usual: it would round what somebody owes in a currency whose cents are not in use.
function digitsOf(currency: Currency) {
  const digits = decimalsOf(currency)
  return { minimumFractionDigits: digits, maximumFractionDigits: digits }
}

function known(name: string, locale: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const format = formats.get(name) ?? new Intl.NumberFormat(locale, options)
  formats.set(name, format)
  return format
}
