import { z } from 'zod'
import { NumberText } from './interface/json.ts'
import * as patterns from './interface/patterns.ts'
import { malformed, type Refusal } from './interface/refusal.ts'
import { type Currency, formatMoney, parseMoney } from './money.ts'

// An item of a payment, as the shop lists it. The totals of all items add up to the total of the payment.
export type LineItem = { name: string; quantity: number; total: bigint }

// As stored: minor units are text, because a JSON number may lose digits.
export type StoredLineItem = { name: string; quantity: number; total: string }

export const storedLineItems = (items: readonly LineItem[]): StoredLineItem[] =>
  items.map(({ name, quantity, total }) => ({ name, quantity, total: String(total) }))

// Null if the stored value is not valid, for example after a manual change: the page is shown without items.
export function readStoredLineItems(stored: unknown): LineItem[] | null {
  if (!Array.isArray(stored) || stored.length === 0 || !stored.every(isStored)) return null
  return stored.map(({ name, quantity, total }) => ({ name, quantity, total: BigInt(total) }))
}

function isStored(item: unknown): item is StoredLineItem {
  if (typeof item !== 'object' || item === null) return false
  const { name, quantity, total } = item as Record<string, unknown>
  return typeof name === 'string' && Number.isInteger(quantity) && /^\d{1,18}$/.test(String(total))
}

const maxLineItems = 10
const maxNameLength = 80
const maxQuantity = 9999

const spelled = (value: string | NumberText) => (value instanceof NumberText ? value.text : value)

const quantityRule = `must be a whole number from 1 to ${maxQuantity}`
const isQuantity = new RegExp(patterns.quantity)

const isSpelled = (value: unknown) =>
  typeof value === 'string' || value === null || value instanceof NumberText

// Empty and null count as absent.
const quantity = z
  .custom<string | NumberText | null>(isSpelled, quantityRule)
  .optional()
  .transform((value, context) => {
    if (value === undefined || value === null || value === '') return 1
    if (isQuantity.test(spelled(value))) return Number(spelled(value))
    context.addIssue(quantityRule)
    return z.NEVER
  })
  .meta({
    type: ['string', 'integer', 'null'],
    pattern: `^$|${patterns.quantity}`,
    minimum: 1,
    maximum: maxQuantity,
    description: 'The quantity, a whole number; the default is 1.',
  })

// An item may be free, such as the delivery.
const totalIn = (currency: Currency) =>
  z
    .union([z.string(), patterns.numberField], 'must be text or a number')
    .transform((value, context) => {
      const minor = isZero(spelled(value)) ? 0n : parseMoney(spelled(value), currency)
      if (typeof minor === 'bigint') return minor
      context.addIssue(minor)
      return z.NEVER
    })
    .meta({
      pattern: patterns.total,
      minimum: 0,
      exclusiveMaximum: 1e12,
      multipleOf: 0.01,
      description: 'The total of the item, in major units, not the price of one piece. It may be zero.',
    })

const isZero = (amount: string) => /^0{1,12}(\.0+)?$/.test(amount)

const itemIn = (currency: Currency) =>
  z.object(
    {
      name: patterns
        .textField(maxNameLength)
        .refine(value => value.trim() !== '', 'must not be empty')
        .meta({ pattern: patterns.namedText, description: 'The name of the item.' }),
      quantity,
      total: totalIn(currency),
    },
    'must be an object with name, quantity and total',
  )

// An empty list counts as absent.
export const lineItemsIn = (currency: Currency) =>
  z
    .array(itemIn(currency), 'must be a list')
    .max(maxLineItems, `at most ${maxLineItems} items`)
    .transform(items => (items.length > 0 ? items : undefined))
    .optional()
    .meta({
      description:
        'The items, shown on the page and the receipt: at most 10, and their totals add up to total. In JSON requests ' +
        'only; a form field of this name is ignored.',
    })

// The page shows the items and the total, so they have to match.
export function checkSum(
  items: readonly LineItem[] | undefined,
  due: bigint,
  currency: Currency,
): Refusal | undefined {
  const sum = (items ?? []).reduce((all, one) => all + one.total, 0n)
  if (!items || sum === due) return undefined
  return malformed(
    'line_items',
    `their totals make ${formatMoney(sum, currency)}, and total is ${formatMoney(due, currency)}`,
  )
}
