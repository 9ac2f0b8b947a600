import { decimalsOf, formatDecimal, isCurrency, parseDecimal } from '../money.ts'

// The operator's price for a paid payment, as an operator types it in the merchant setting `fee`:
//   1.5% + 0.20, at most 20.00
//   1%; card: 2.9% + 0.30, at least 0.50
// A rule with a payment method applies to it alone; the rule without one applies to the others. Amounts are in units of the
// payment's currency.
type FeeRule = Readonly<{
  payment_method: string | null // null: every method without a rule
  millionths: bigint // of the total: 1.5% are 15000
  flat: bigint // in hundredths of the currency's unit, like the limits
  least: bigint | null
  most: bigint | null
}>

export type Fee = Readonly<{ rules: readonly FeeRule[] }>

export const noFee: Fee = { rules: [] }

// The fee, or the reason why the text is wrong.
export function readFee(text: string): Fee | string {
  const rules: FeeRule[] = []
  for (const part of text.split(';')) {
    const rule = readRule(part.trim())
    if (typeof rule === 'string') return rule
    if (rules.some(({ payment_method }) => payment_method === rule.payment_method))
      return `${rule.payment_method ?? 'every payment method'} has two rules`
    rules.push(rule)
  }
  return { rules }
}

const example = 'such as 1.5% + 0.20, at most 20.00'
const shape =
  /^(?:([a-z][a-z0-9_]{0,39})\s*:)?\s*(?:([\d.]+)\s*%)?\s*(\+)?\s*([\d.]+)?\s*(?:,\s*at least\s+([\d.]+))?\s*(?:,\s*at most\s+([\d.]+))?$/

function readRule(text: string): FeeRule | string {
  const [isMatch, payment_method = null, percent, plus, flat, least, most] = shape.exec(text) ?? []
  const isSum = percent !== undefined && flat !== undefined
  if (isMatch === undefined || (percent ?? flat) === undefined || (plus !== undefined) !== isSum)
    return `${text || 'an empty rule'} is not a fee ${example}`
  const figures = [readPercent(percent), ...[flat, least, most].map(readHundredths)]
  const fault = figures.find(figure => typeof figure === 'string')
  if (fault !== undefined) return fault
  const [millionths, hundredths, lower, upper] = figures as (bigint | null)[]
  if (lower && upper && lower > upper) return 'the fee must not be at least more than it is at most'
  return {
    payment_method,
    millionths: millionths ?? 0n,
    flat: hundredths ?? 0n,
    least: lower ?? null,
    most: upper ?? null,
  }
}

const percentPlaces = 4
const wholePercent = 1_000_000n

function readPercent(text: string | undefined): bigint | null | string {
  if (text === undefined) return null
  const millionths = parseDecimal(text, percentPlaces)
  if (typeof millionths === 'bigint' && millionths > wholePercent) return 'the percentage must be 100 or less'
  return millionths
}

const readHundredths = (text: string | undefined) => (text === undefined ? null : parseDecimal(text, 2))

// The fee in minor units, rounded half up once, and never more than the total.
export function feeOf(
  { rules }: Fee,
  { total, currency, payment_method }: { total: bigint; currency: string; payment_method: string },
): bigint {
  const rule =
    rules.find(one => one.payment_method === payment_method) ?? rules.find(one => one.payment_method === null)
  if (!rule || !isCurrency(currency)) return 0n
  const unit = 10n ** BigInt(decimalsOf(currency))
  const inMinor = (hundredths: bigint) => roundHalfUp(hundredths * unit, 100n)
  const fee = roundHalfUp(total * rule.millionths + rule.flat * unit * 10_000n, wholePercent)
  const raised = rule.least !== null && fee < inMinor(rule.least) ? inMinor(rule.least) : fee
  const limited = rule.most !== null && raised > inMinor(rule.most) ? inMinor(rule.most) : raised
  return limited < total ? limited : total
}

// Of positive numbers.
export const roundHalfUp = (numerator: bigint, denominator: bigint) =>
  (2n * numerator + denominator) / (2n * denominator)

// What is returned of a fee when the refunded part of the total grows. The parts add up to the fee when all is refunded,
// because each is the difference of two rounded sums.
export const returnedFee = (
  fee: bigint,
  total: bigint,
  { before, after }: { before: bigint; after: bigint }, // refunded of the total
) => roundHalfUp(fee * after, total) - roundHalfUp(fee * before, total)

// In the form that an operator types.
export const feeText = ({ rules }: Fee) => rules.map(ruleText).join('; ')

function ruleText({ payment_method, millionths, flat, least, most }: FeeRule): string {
  const percent = `${formatDecimal(millionths, percentPlaces).replace(/\.?0+$/, '')}%`
  const sum = [millionths > 0n && percent, flat > 0n && formatDecimal(flat, 2)].filter(Boolean).join(' + ')
  const limits = [
    least !== null && `, at least ${formatDecimal(least, 2)}`,
    most !== null && `, at most ${formatDecimal(most, 2)}`,
  ]
  return `${payment_method ? `${payment_method}: ` : ''}${sum}${limits.filter(Boolean).join('')}`
}
