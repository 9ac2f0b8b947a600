import { z } from 'zod'
import type { LineItem } from '../lineItems.ts'
import { type Currency, formatMoney, parseMoney } from '../money.ts'
import { numberText, text } from './fieldSchemas.ts'
import { NumberText } from './json.ts'
import * as patterns from './patterns.ts'
import { malformed, type Refusal } from './refusal.ts'

export const maxLineItems = 10
const maxNameLength = 80
const maxQuantity = 9999

const spelled = (value: string | NumberText) => (value instanceof NumberText ? value.text : value)

const wholeWords = `must be a whole number from 1 to ${maxQuantity}`
const isQuantity = new RegExp(patterns.quantity)

const isSpelled = (value: unknown) =>
  typeof value === 'string' || value === null || value instanceof NumberText

// Empty and null mean that it was not sent.
const quantity = z
  .custom<string | NumberText | null>(isSpelled, wholeWords)
  .optional()
  .transform((value, context) => {
    if (value === undefined || value === null || value === '') return 1
    if (isQuantity.test(spelled(value))) return Number(spelled(value))
    context.addIssue(wholeWords)
    return z.NEVER
  })
  .meta({
    type: ['string', 'integer', 'null'],
    pattern: `^$|${patterns.quantity}`,
    minimum: 1,
    maximum: maxQuantity,
    description: 'How many, a whole number; 1 unless it is sent.',
  })

// Something may be free, such as the delivery.
const totalIn = (currency: Currency) =>
  z
    .union([z.string(), numberText], 'must be text or a number')
    .transform((value, context) => {
      const minor = isNothing(spelled(value)) ? 0n : parseMoney(spelled(value), currency)
      if (typeof minor === 'bigint') return minor
      context.addIssue(minor)
      return z.NEVER
    })
    .meta({
      pattern: patterns.total,
      minimum: 0,
      exclusiveMaximum: 1e12,
      multipleOf: 0.01,
      description: 'Of the whole line, in major units, not of one piece. It may be zero.',
    })

const isNothing = (amount: string) => /^0{1,12}(\.0+)?$/.test(amount)

const itemIn = (currency: Currency) =>
  z.object(
    {
      name: text(maxNameLength)
        .refine(value => value.trim() !== '', 'must not be empty')
        .meta({ pattern: patterns.namedText, description: 'What it is.' }),
      quantity,
      total: totalIn(currency),
    },
    'must be an object with name, quantity and total',
  )

// An empty list is none.
export const lineItemsIn = (currency: Currency) =>
  z
    .array(itemIn(currency), 'must be a list')
    .max(maxLineItems, `at most ${maxLineItems} items`)
    .transform(items => (items.length > 0 ? items : undefined))
    .optional()
    .meta({
      description:
        'What the customer pays for, shown on the page and the receipt: at most 10, and their totals make up total. ' +
        'In JSON requests alone; a form that sends it is read without.',
    })

// A customer adds up what the page shows.
export function sumRefuses(
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
