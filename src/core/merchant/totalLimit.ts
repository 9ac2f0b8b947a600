import {
  type Currency,
  decimalsOf,
  formatDecimal,
  formatMoney,
  isCurrency,
  parseDecimal,
  parseMoney,
} from '../money.ts'

// The minimum or maximum total of a merchant's payments: one figure for every currency, and separate figures for some, as
// in `5000,UGX:20000000`. Ten thousand is a large amount in cedis and a small one in shillings.
export type TotalLimit = Readonly<{
  every: bigint // in hundredths of the payment's currency
  own: Readonly<Partial<Record<Currency, bigint>>> // in minor units
}>

export const everyCurrency = (hundredths: bigint): TotalLimit => ({ every: hundredths, own: {} })

// The limit, or the reason why the text is wrong. Without a figure for every currency, the default applies to them.
export function readTotalLimit(text: string, defaultValue: bigint): TotalLimit | string {
  const figures: Figures = {}
  for (const word of text.split(',')) {
    const fault = readFigure(word.trim(), figures)
    if (fault !== undefined) return fault
  }
  const { every = defaultValue, ...own } = figures
  return { every, own }
}

type Figures = Partial<Record<Currency | 'every', bigint>>

function readFigure(word: string, figures: Figures): string | undefined {
  const colon = word.indexOf(':')
  const code = colon < 0 ? undefined : word.slice(0, colon)
  if (code !== undefined && !isCurrency(code)) return `${code || 'an empty word'} is not a known currency`
  const figure = word.slice(colon + 1)
  const limit = code === undefined ? parseDecimal(figure, 2) : parseMoney(figure, code)
  if (typeof limit === 'string') return limit
  const of = code ?? 'every'
  if (figures[of] !== undefined) return `${word} is a second figure for ${code ?? 'every currency'}`
  figures[of] = limit
  return undefined
}

// In minor units. For a currency without decimals, 5.50 becomes 6 as a minimum and 5 as a maximum.
export const leastIn = ({ every, own }: TotalLimit, currency: Currency) =>
  own[currency] ?? (decimalsOf(currency) === 0 ? (every + 99n) / 100n : every)

export const mostIn = ({ every, own }: TotalLimit, currency: Currency) =>
  own[currency] ?? (decimalsOf(currency) === 0 ? every / 100n : every)

// In the form that an operator types.
export const totalLimitText = ({ every, own }: TotalLimit) =>
  [
    formatDecimal(every, 2),
    ...Object.entries(own).map(([code, limit]) => `${code}:${formatMoney(limit, code as Currency)}`),
  ].join(',')
