// Money is a bigint of minor units with its currency. Decimal text in, decimal text out, never a float.
export const currencies = ['GHS', 'USD', 'GBP', 'EUR'] as const
export type Currency = (typeof currencies)[number]
export const usualCurrency: Currency = 'GHS' // of a request that names none

export const isCurrency = (word: unknown): word is Currency => currencies.some(known => known === word)

const decimals = 2 // of all four currencies

// Gives back minor units, or the sentence that says why the text is not an amount that anyone can owe.
export function parseMoney(text: string): bigint | string {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text)
  if (!match) return `must be a plain decimal such as 25.00 (got ${quote(text)})`
  const [, whole = '', fraction = ''] = match
  const kept = withoutZeros(fraction)
  if (whole.length > 12) return `at most 12 digits before the dot (got ${quote(text)})`
  if (kept.length > decimals) return `at most ${decimals} decimals (got ${quote(text)})`
  const minor = BigInt(whole + kept.padEnd(decimals, '0'))
  return minor > 0n ? minor : 'must be more than zero'
}

// Those at the end say nothing. Not by a pattern: it would begin anew at each of the zeros, and a stranger may send very
// many of them.
export function withoutZeros(fraction: string): string {
  let end = fraction.length
  while (fraction[end - 1] === '0') end--
  return fraction.slice(0, end)
}

export function formatMoney(minor: bigint): string {
  const digits = String(minor).padStart(decimals + 1, '0')
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`
}

// For the wire's number form. Exact: 14 digits fit a double.
export const moneyNumber = (minor: bigint) => Number(minor) / 100

const quote = (text: string) => (text.length > 30 ? `${text.slice(0, 30)}...` : text)
