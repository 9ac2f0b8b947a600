// Money is a bigint of minor units with its currency. Decimal text in, decimal text out, never a float.

// What is paid in, with its decimals by ISO 4217. A currency may have decimals that nobody has coins for: the payment method
// of a provider that takes whole units alone says so in its limits.
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
  XOF: 0, // of West Africa: Benin, Burkina Faso, Côte d'Ivoire, Guinea-Bissau, Mali, Niger, Senegal, Togo
  XAF: 0, // of Central Africa: Cameroon, Chad, the Congo, Gabon and their neighbours
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
export const usualCurrency: Currency = 'GHS' // of a request that names none

export const isCurrency = (word: unknown): word is Currency =>
  typeof word === 'string' && Object.hasOwn(decimals, word)

// A newer version may have written one that this one does not know. To guess its decimals would be to tell a wrong amount.
export function decimalsOf(currency: Currency): 0 | 2 {
  if (!isCurrency(currency)) throw new Error(`This version does not know the currency ${String(currency)}.`)
  return decimals[currency]
}

export const wholeCurrencies = currencies.filter(currency => decimals[currency] === 0)

// Gives back minor units, or the sentence that says why the text is not an amount that anyone can owe.
export function parseMoney(text: string, currency: Currency): bigint | string {
  const places = decimalsOf(currency)
  return places === 0 ? parseFigure(text, 0, `${currency} has no decimals`) : parseFigure(text, places)
}

// What a provider says in its own word for the currency. Where we do not know that, a yes is no less a yes: it is read
// with the decimals that were asked for, and a person looks at it.
export const parseSaid = (text: string, said: unknown, asked: Currency) =>
  parseMoney(text, isCurrency(said) ? said : asked)

export function parseFigure(
  text: string,
  places: number,
  tooMany = `at most ${places} decimals`,
): bigint | string {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text)
  if (!match) return `must be a plain decimal such as ${places === 0 ? '5000' : '25.00'} (got ${quote(text)})`
  const [, whole = '', fraction = ''] = match
  const kept = withoutZeros(fraction)
  if (whole.length > 12) return `at most 12 digits before the dot (got ${quote(text)})`
  if (kept.length > places) return `${tooMany} (got ${quote(text)})`
  const minor = BigInt(whole + kept.padEnd(places, '0'))
  return minor > 0n ? minor : 'must be more than zero'
}

// Those at the end say nothing. Not by a pattern: it would begin anew at each of the zeros, and a stranger may send very
// many of them.
export function withoutZeros(fraction: string): string {
  let end = fraction.length
  while (fraction[end - 1] === '0') end--
  return fraction.slice(0, end)
}

// With all the decimals of the currency, and none where it has none: 25.00, 5000.
export const formatMoney = (minor: bigint, currency: Currency) => formatFigure(minor, decimalsOf(currency))

export function formatFigure(minor: bigint, places: number): string {
  if (places === 0) return String(minor)
  const digits = String(minor).padStart(places + 1, '0')
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`
}

// Two decimals whatever the currency, as older clients read it: 25.00, 5000.00.
export const twoDecimals = (minor: bigint, currency: Currency) =>
  decimalsOf(currency) === 0 ? `${minor}.00` : formatMoney(minor, currency)

// For people, where the code may be none of ours: a provider's word, or a newer version's.
export const figureIn = (minor: bigint, code: string) =>
  isCurrency(code) ? formatMoney(minor, code) : `${minor} in minor units`

// For the wire's number form. Exact: 14 digits fit a double.
export const moneyNumber = (minor: bigint, currency: Currency) =>
  decimalsOf(currency) === 0 ? Number(minor) : Number(minor) / 100

const quote = (text: string) => (text.length > 30 ? `${text.slice(0, 30)}...` : text)
