import { InvalidInputError } from './errors.ts'

// The gateway's currencies by their decimals. A test compares them with the gateway's own table.
const withDecimals = new Set(
  'GHS USD GBP EUR NGN KES TZS ZAR ZMW BWP CDF EGP ETB GMD LRD LSL MAD MGA MWK MZN NAD SLE SSP SZL ZWG'.split(
    ' ',
  ),
)
const withoutDecimals = new Set('UGX RWF XOF XAF BIF DJF GNF KMF'.split(' '))

// The currency of an order that names none.
export const defaultCurrency = 'GHS'

/**
 * An amount of money, in one of two forms: `total`, decimal text in major units, or `totalMinor`, a whole number of minor
 * units. There is no form for a float, because `0.1 + 0.2` is not `0.3`.
 *
 * @example
 * const a: Amount = { total: '25.50' } // twenty-five cedis and fifty pesewas
 * const b: Amount = { totalMinor: 2550 } // the same
 */
export type Amount =
  | { total: string; totalMinor?: undefined }
  | { total?: undefined; totalMinor: number | bigint }

export function decimalsOf(currency: string): 0 | 2 {
  if (withDecimals.has(currency)) return 2
  if (withoutDecimals.has(currency)) return 0
  throw new InvalidInputError(
    'currency',
    `this version of @tollgate/merchant does not know the decimals of ${currency}. Update it.`,
    'currency_unknown',
  )
}

// The currency that the gateway reads in a field of the merchant: a known code, in any letter case.
export function currencyIn(value: unknown): string | undefined {
  const code = typeof value === 'string' ? value.trim().toUpperCase() : ''
  return withDecimals.has(code) || withoutDecimals.has(code) ? code : undefined
}

const maxDigits = 14 // 12 before the dot and 2 after it, so that every amount is an exact JavaScript integer

// The text of an amount as it is signed and sent.
export function amountText(amount: Amount, currency: string, field = 'total'): string {
  const { total, totalMinor } = amount as { total?: unknown; totalMinor?: unknown }
  const minorField = `${field}Minor`
  if (total !== undefined && totalMinor !== undefined)
    throw new InvalidInputError(field, `pass either ${field} or ${minorField}, not both.`)
  if (totalMinor === undefined) return checkedText(total, field)
  if (typeof totalMinor !== 'bigint' && !Number.isSafeInteger(totalMinor))
    throw new InvalidInputError(
      minorField,
      `must be a whole number of minor units (got ${String(totalMinor)}).`,
    )
  const digits = String(totalMinor)
  if (digits.startsWith('-') || digits.length > maxDigits)
    throw new InvalidInputError(minorField, `must be from 0 to 14 digits long (got ${digits}).`)
  return decimalText(digits, decimalsOf(currency))
}

function checkedText(total: unknown, field: string): string {
  if (typeof total === 'number')
    throw new InvalidInputError(
      field,
      `is a number (${total}). Pass text such as '25.50', or ${field}Minor: 2550 in minor units.`,
    )
  if (typeof total === 'string' && /^\d{1,12}(\.\d+)?$/.test(total)) return total
  throw new InvalidInputError(field, `must be decimal text such as '25.50' (got ${JSON.stringify(total)}).`)
}

const decimalText = (digits: string, decimals: number) => {
  if (decimals === 0) return digits
  const padded = digits.padStart(decimals + 1, '0')
  return `${padded.slice(0, -decimals)}.${padded.slice(-decimals)}`
}

// The whole number of minor units in an amount.
export function minorOf(amount: Amount, currency: string): number {
  const text = amountText(amount, currency)
  const minor = parseMinor(text, decimalsOf(currency))
  if (minor !== undefined) return minor
  throw new InvalidInputError('total', `${currency} has ${decimalsOf(currency)} decimals (got ${text}).`)
}

function parseMinor(text: string, decimals: number): number | undefined {
  const match = /^(\d{1,12})(?:\.(\d{1,20}))?$/.exec(text)
  if (!match) return undefined
  const [, whole = '', fraction = ''] = match
  const kept = fraction.slice(0, decimals).padEnd(decimals, '0')
  return /^0*$/.test(fraction.slice(decimals)) ? Number(whole + kept) : undefined
}

// An amount of an answer or a notification: a JSON number, or text for older clients. A JSON number of at most 14 digits
// has one nearest decimal, so toFixed is exact; the comparison finds a number with more decimals than the currency has.
export function readMoney(
  value: unknown,
  currency: string,
): { amount: string; amountMinor: number } | undefined {
  const decimals = decimalsOf(currency)
  const text = typeof value === 'number' && Number.isFinite(value) ? value.toFixed(decimals) : value
  if (typeof text !== 'string' || (typeof value === 'number' && Number(text) !== value)) return undefined
  const amountMinor = parseMinor(text, decimals)
  return amountMinor === undefined
    ? undefined
    : { amount: decimalText(String(amountMinor), decimals), amountMinor }
}
