import {
  type Currency,
  decimalsOf,
  formatDecimal,
  formatMoney,
  isCurrency,
  parseDecimal,
  parseMoney,
} from '../money.ts'

// The least or the most that a merchant takes. Ten thousand is much in cedis and little in shillings: beside the figure
// for every currency, single ones have their own, as in `5000,UGX:20000000`.
export type TotalLimit = Readonly<{
  every: bigint // in hundredths of whatever the payment is in
  own: Readonly<Partial<Record<Currency, bigint>>> // in minor units
}>

export const everyCurrency = (hundredths: bigint): TotalLimit => ({ every: hundredths, own: {} })

// The limit, or the sentence that says what is wrong. Without a figure for every currency, the usual one stays.
export function readTotalLimit(text: string, usual: bigint): TotalLimit | string {
  const figures: Figures = {}
  for (const word of text.split(',')) {
    const fault = readFigure(word.trim(), figures)
    if (fault !== undefined) return fault
  }
  const { every = usual, ...own } = figures
  return { every, own }
}

type Figures = Partial<Record<Currency | 'every', bigint>>

function readFigure(word: string, figures: Figures): string | undefined {
  const colon = word.indexOf(':')
  const code = colon < 0 ? undefined : word.slice(0, colon)
  if (code !== undefined && !isCurrency(code)) return `${code || 'an empty word'} is no currency that we know`
  const figure = word.slice(colon + 1)
  const limit = code === undefined ? parseDecimal(figure, 2) : parseMoney(figure, code)
  if (typeof limit === 'string') return limit
  const of = code ?? 'every'
  if (figures[of] !== undefined) return `${word} is a second figure for ${code ?? 'every currency'}`
  figures[of] = limit
  return undefined
}

// In minor units of the currency. Where it has no decimals, half a unit more than five is six at least and five at most.
export const leastIn = ({ every, own }: TotalLimit, currency: Currency) =>
  own[currency] ?? (decimalsOf(currency) === 0 ? (every + 99n) / 100n : every)

export const mostIn = ({ every, own }: TotalLimit, currency: Currency) =>
  own[currency] ?? (decimalsOf(currency) === 0 ? every / 100n : every)

// As an operator would type it.
export const totalLimitText = ({ every, own }: TotalLimit) =>
  [
    formatDecimal(every, 2),
    ...Object.entries(own).map(([code, limit]) => `${code}:${formatMoney(limit, code as Currency)}`),
  ].join(',')
