// Money is a bigint of minor units with its currency. Decimal text in, decimal text out, never a float.

// The supported currencies with their decimals by ISO 4217. If a provider accepts only whole units of a currency, the
// limits of its payment method say so.
const decimals = {
  GHS: 2,
  USD: 2,
  GBP: 2,
  EUR: 2,
  NGN: 2,
  KES: 2,
  TZS: 2,
  UGX: 0,
  RWF: 0,
  XOF: 0, // West Africa: Benin, Burkina Faso, Côte d'Ivoire, Guinea-Bissau, Mali, Niger, Senegal, Togo
  XAF: 0, // Central Africa: Cameroon, Chad, the Congo, Gabon and their neighbours
  ZAR: 2,
  ZMW: 2,
  BIF: 0,
  BWP: 2,
  CDF: 2,
  DJF: 0,
  EGP: 2,
  ETB: 2,
  GMD: 2,
  GNF: 0,
  KMF: 0,
  LRD: 2,
  LSL: 2,
  MAD: 2,
  MGA: 2,
  MWK: 2,
  MZN: 2,
  NAD: 2,
  SLE: 2,
  SSP: 2,
  SZL: 2,
  ZWG: 2,
} as const satisfies Record<string, 0 | 2>

export type Currency = keyof typeof decimals
export const currencies = Object.keys(decimals) as readonly Currency[]
export const defaultCurrency: Currency = 'GHS' // of a request without a currency

export const isCurrency = (code: unknown): code is Currency =>
  typeof code === 'string' && Object.hasOwn(decimals, code)

// A newer version may have stored a currency that this one does not know. A guess of its decimals could show a wrong
// amount, so this throws.
export function decimalsOf(currency: Currency): 0 | 2 {
  if (!isCurrency(currency)) throw new Error(`This version does not know the currency ${String(currency)}.`)
  return decimals[currency]
}

export const wholeCurrencies = currencies.filter(currency => decimals[currency] === 0)

// Returns minor units, or the reason why the text is not a valid amount.
export function parseMoney(text: string, currency: Currency): bigint | string {
  const places = decimalsOf(currency)
  return places === 0 ? parseDecimal(text, 0, `${currency} has no decimals`) : parseDecimal(text, places)
}

// An amount that a provider reports with its own currency code. If the code is unknown, the decimals of the requested
// currency apply, because a success must still be recorded; the mismatch opens a task.
export const parseReportedMoney = (text: string, reported: unknown, requested: Currency) =>
  parseMoney(text, isCurrency(reported) ? reported : requested)

export function parseDecimal(
  text: string,
  places: number,
  tooMany = `at most ${places} decimals`,
): bigint | string {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text)
  if (!match) return `must be a plain decimal such as ${places === 0 ? '5000' : '25.00'} (got ${quote(text)})`
  const [, whole = '', fraction = ''] = match
  const kept = dropTrailingZeros(fraction)
  if (whole.length > 12) return `at most 12 digits before the dot (got ${quote(text)})`
  if (kept.length > places) return `${tooMany} (got ${quote(text)})`
  const minor = BigInt(whole + kept.padEnd(places, '0'))
  return minor > 0n ? minor : 'must be more than zero'
}

// A loop, because a regular expression takes quadratic time for a long run of zeros, and the text is untrusted.
export function dropTrailingZeros(fraction: string): string {
  let end = fraction.length
  while (fraction[end - 1] === '0') end--
  return fraction.slice(0, end)
}

// With all decimals of the currency: 25.00, or 5000 if it has none.
export const formatMoney = (minor: bigint, currency: Currency) => formatDecimal(minor, decimalsOf(currency))

export function formatDecimal(minor: bigint, places: number): string {
  if (places === 0) return String(minor)
  const digits = String(minor).padStart(places + 1, '0')
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`
}

// Two decimals for any currency, as older clients read it: 25.00, 5000.00.
export const twoDecimals = (minor: bigint, currency: Currency) =>
  decimalsOf(currency) === 0 ? `${minor}.00` : formatMoney(minor, currency)

// For operators. The code may be unknown: a provider or a newer version may have written it.
export const figureIn = (minor: bigint, code: string) =>
  isCurrency(code) ? formatMoney(minor, code) : `${minor} in minor units`

// As a JSON number. It is exact, because 14 digits fit a double.
export const moneyNumber = (minor: bigint, currency: Currency) =>
  decimalsOf(currency) === 0 ? Number(minor) : Number(minor) / 100

const quote = (text: string) => (text.length > 30 ? `${text.slice(0, 30)}...` : text)

const formats = new Map<string, Intl.NumberFormat>() // creating one is slow, and there are few

// Money in the format of a locale, with the currency code: GHS 1,234.50 in English, 1 234,50 GHS in French. Intl gets
// the digits as text, never a float, so the result is exact. Intl writes a no-break space between code and number; after
// a leading code it becomes a plain space, as everywhere else in the product.
export const localizedMoney = (minor: bigint, currency: Currency, locale: string) =>
  formatOf(currency, locale)
    .format(formatMoney(minor, currency) as Intl.StringNumericLiteral)
    .replace(/^([A-Z]{3})\u00a0/, '$1 ')

// The same without the code, for a column of amounts.
export const localizedFigure = (minor: bigint, currency: Currency, locale: string) =>
  figures(currency, locale).format(formatMoney(minor, currency) as Intl.StringNumericLiteral)

const formatOf = (currency: Currency, locale: string) =>
  cachedFormat(`${locale} ${currency}`, locale, {
    style: 'currency',
    currency,
    currencyDisplay: 'code',
    ...digitsOf(currency),
  })

const figures = (currency: Currency, locale: string) =>
  cachedFormat(`${locale} ${decimalsOf(currency)}`, locale, digitsOf(currency))

// Our own table of decimals. The defaults of Intl would round amounts in currencies whose cents are not in use.
function digitsOf(currency: Currency) {
  const digits = decimalsOf(currency)
  return { minimumFractionDigits: digits, maximumFractionDigits: digits }
}

function cachedFormat(name: string, locale: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const format = formats.get(name) ?? new Intl.NumberFormat(locale, options)
  formats.set(name, format)
  return format
}
