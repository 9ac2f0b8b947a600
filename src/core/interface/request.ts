import { z } from 'zod'
import {
  type Currency,
  currencies,
  isCurrency,
  parseMoney,
  usualCurrency,
  wholeCurrencies,
} from '../money.ts'
import { parsePhone } from '../phone.ts'
import { emailPattern, isAtMost, isPlainText, onOneLine, parseUrl } from '../text.ts'
import { numberText, text } from './fieldSchemas.ts'
import { type Fields, NumberText, noFields } from './json.ts'
import { lineItemsIn, sumRefuses } from './lineItems.ts'
import * as patterns from './patterns.ts'
import { malformed, type Refusal } from './refusal.ts'
import { recordKeys } from './statusRecord.ts'
import type { UntrustedUrl } from '../urlTrust.ts'

// The payment request as it comes over the wire. These schemas validate, and the interface description is
// made from them.
export const maxExtras = 20
export const maxExtraLength = 255
export const maxInvoiceLength = 25
export const maxLongInvoiceLength = 64 // where the merchant's long_invoice_ids is on

// Forms have boxes of several lines for it.
const lines = (max: number) =>
  z
    .string('must be text')
    .meta({ maxLength: max, pattern: patterns.plainLines })
    .transform(onOneLine)
    .pipe(text(max))

const phone = (otherwise: string) =>
  z
    .string('must be text')
    .meta({ pattern: patterns.phone })
    .transform((value, context) => parsePhone(value) ?? (context.addIssue(otherwise), z.NEVER))

const url = text(2048, patterns.url).transform((value, context): UntrustedUrl => {
  const fault = parseUrl(value)
  if (!fault) return value
  context.addIssue(fault)
  return z.NEVER
})

const invoiceId = z
  .string('must be text')
  .max(maxLongInvoiceLength, `at most ${maxLongInvoiceLength} characters`)
  .regex(
    /^[A-Za-z0-9\-_./#:](?:[A-Za-z0-9\-_./#: ]*[A-Za-z0-9\-_./#:])?$/,
    'only letters, digits, - _ . / # : and inner spaces',
  )
  .refine(id => !recordKeys.has(id), 'is a word that the status check uses itself; choose another')
  .meta({ not: { enum: [...recordKeys] } })

export const isInvoiceId = (id: string) => invoiceId.safeParse(id).success

const totalIn = (currency: Currency) =>
  z
    .union([z.string(), numberText], 'must be text or a number')
    .transform((value, context) => {
      const minor = parseMoney(value instanceof NumberText ? value.text : value, currency)
      if (typeof minor === 'bigint') return minor
      context.addIssue(minor)
      return z.NEVER
    })
    .meta({
      description:
        'Total due in major units: more than zero, at most 2 decimals, no exponent. A currency without decimals ' +
        `(${wholeCurrencies.join(', ')}) takes zeros alone behind the dot.`,
      examples: ['25.00'],
      pattern: patterns.total,
      allOf: [{ pattern: patterns.moreThanZero }],
      exclusiveMinimum: 0,
      exclusiveMaximum: 1e12,
      multipleOf: 0.01,
    })

const yes = z
  .custom<true | 'true' | 1>(
    value => value === true || value === 'true' || value === '1' || isOne(value),
    'must be true',
  )
  .meta({ enum: [true, 'true', '1', 1] })

const isOne = (value: unknown) => value instanceof NumberText && Number(value.text) === 1

const outlet = z
  .union([text(maxExtraLength), numberText], 'must be text or a number')
  .transform(value => (value instanceof NumberText ? value.text : value))

const hints = ['mtn', 'airtel', 'tigo', 'airteltigo', 'vodafone', 'telecel'] as const

export const requestSchema = z.object({
  merchant_key: z
    .string('must be text')
    .meta({ minLength: 1, description: 'The merchant key assigned to you.' }),
  invoice_id: invoiceId.meta({
    description:
      `Your own transaction id, unique per merchant and mode: at most ${maxInvoiceLength} characters, or ` +
      `${maxLongInvoiceLength} where your operator has set long_invoice_ids for you.`,
    examples: ['AMA-1042'],
  }),
  total: totalIn(usualCurrency),
  currency: z
    .enum(currencies, `must be one of ${currencies.join(', ')}`)
    .optional()
    .meta({
      default: usualCurrency,
      description:
        'Currency of total: one of those that your operator has set for you, GHS alone at first. Where it is not ' +
        'sent, an extra_currency with one of these codes counts as it.',
    }),
  success_url: url.optional().meta({ description: 'Where the customer goes after completing checkout.' }),
  cancelled_url: url
    .optional()
    .meta({ description: 'Where the customer goes after cancelling. `cancel_url` is read the same.' }),
  deferred_url: url
    .optional()
    .meta({ description: 'Where the customer goes when the payment method is paid later.' }),
  ipn_url: url.optional().meta({
    description:
      'Where the notifications of this payment go, instead of your ipn_url setting. With ipn_style basic or ' +
      'form_ipn_url registered it must be on an origin of yours.',
  }),
  number: phone('is not a possible phone number (0241234567, 233241234567 or +233241234567)')
    .optional()
    .meta({
      description: 'Customer contact number. `extra_mobile` is read the same.',
      examples: ['0241234567'],
    }),
  email: text(254)
    .regex(emailPattern, 'is not an email address')
    .meta({ pattern: patterns.email })
    .optional()
    .meta({ description: 'Customer email address. `extra_email` is read the same.' }),
  name: text(120).optional().meta({ description: 'Customer name. `extra_name` is read the same.' }),
  description: lines(500).optional().meta({
    description: 'What the payment is for; the customer sees it. Line breaks and tabs become spaces.',
  }),
  line_items: lineItemsIn(usualCurrency),
  extra_outlet: outlet.optional().meta({ description: 'Code of one of your outlets.' }),
  generate_checkout_url: yes.optional().meta({
    description:
      'Required, and true, unless the request is a direct one (pymt_instrument) or comes to an older door. ' +
      'The answer then has the checkout address. The words "true" and "1" and the number 1 are read the same.',
  }),
  pymt_instrument: phone('is not a possible phone number').optional().meta({
    description: 'Direct request without a page: the wallet whose owner is asked to approve on the phone.',
  }),
  extra_wallet_issuer_hint: z
    .string('must be text')
    .meta({ pattern: patterns.anyCase(hints) })
    .transform(word => word.toLowerCase())
    .pipe(z.enum(hints, `must be one of ${hints.join(', ')}`))
    .optional()
    .meta({
      description: `Direct request: the network of the wallet, ${hints.join(', ')}, in any letter case.`,
    }),
  voucher_code: text(20)
    .optional()
    .meta({ description: 'Direct request: the voucher code where the network needs one, as Telecel does.' }),
  secure_hash: z
    .string('must be text')
    .meta({ pattern: patterns.hexDigest })
    .optional()
    .meta({
      description:
        'HMAC-SHA-256 of the request string, hexadecimal in any letter case. Required, unless the merchant has ' +
        'unsigned_requests on and the request is a direct one or comes to an older door.',
    }),
})

// How an amount is read is for its currency to say, and for its own field to refuse.
const schemas = new Map<Currency, typeof requestSchema>([[usualCurrency, requestSchema]])

function schemaIn(currency: Currency): typeof requestSchema {
  const before = schemas.get(currency)
  if (before) return before
  const schema = requestSchema.extend({ total: totalIn(currency), line_items: lineItemsIn(currency) })
  schemas.set(currency, schema)
  return schema
}

export type PaymentRequest = z.output<typeof requestSchema> & { extra: Record<string, string> }

// Older clients' names for the contract's fields. The contract's own name wins when both are there.
export const aliases: Record<string, string> = {
  cancel_url: 'cancelled_url',
  extra_name: 'name',
  extra_mobile: 'number',
  extra_email: 'email',
}

const aliasNames = Object.keys(aliases)
const named = new Set(['extra_outlet', 'extra_wallet_issuer_hint', ...aliasNames])

// Empty means absent: forms send every field, JSON clients send null.
export function presentFields(sent: Fields): Fields {
  const fields = noFields()
  for (const name of Object.keys(sent)) {
    const value = sent[name]
    if (value !== null && value !== undefined && value !== '') fields[name] = value
  }
  for (const alias of aliasNames)
    if (fields[alias] !== undefined) fields[aliases[alias] as string] ??= fields[alias]
  const currency = fields.currency === undefined && currencyIn(fields.extra_currency)
  if (currency) fields.currency = currency
  return fields
}

// Older clients name the currency in a field of their own. One that we know is meant, in any letter case: nobody is to be
// charged in another. What we do not know stays the merchant's own word.
function currencyIn(word: unknown) {
  const code = typeof word === 'string' && word.trim().toUpperCase()
  return isCurrency(code) ? code : undefined
}

// A form is flat, and has no lists: whatever an old client means by this name, it is not ours.
export const withoutLists = (form: Fields): Fields => ({ ...form, line_items: undefined })

// Every field checked; throws a Refusal that names the first that is wrong.
export function parseRequest(fields: Fields): PaymentRequest {
  const currency = isCurrency(fields.currency) ? fields.currency : usualCurrency
  const parsed = schemaIn(currency).safeParse(fields)
  if (!parsed.success) throw firstFault(parsed.error)
  const wrongSum = sumRefuses(parsed.data.line_items, parsed.data.total, currency)
  if (wrongSum) throw wrongSum
  return { ...parsed.data, extra: parseExtras(fields) }
}

function firstFault(error: z.ZodError): Refusal {
  const issue = error.issues[0]
  return malformed(fieldAt(issue?.path ?? []), issue?.message ?? 'is not valid')
}

// As a program would reach it: line_items[2].total.
const fieldAt = (path: readonly PropertyKey[]) =>
  path
    .map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at > 0 ? '.' : ''}${String(step)}`))
    .join('') || undefined

function parseExtras(fields: Fields): Record<string, string> {
  const extra = noFields() as Record<string, string>
  let count = 0
  for (const field of Object.keys(fields)) {
    if (!field.startsWith('extra_') || named.has(field)) continue
    const sent = fields[field]
    const value = sent instanceof NumberText ? sent.text : typeof sent === 'boolean' ? String(sent) : sent
    const name = field.slice('extra_'.length)
    if (!/^[A-Za-z0-9_.-]{1,64}$/.test(name))
      throw malformed(field.slice(0, 80), 'after extra_ come 1 to 64 letters, digits, _ . or -')
    if (typeof value !== 'string') throw malformed(field, 'must be text')
    if (!isAtMost(value, maxExtraLength)) throw malformed(field, `at most ${maxExtraLength} characters`)
    if (!isPlainText(value)) throw malformed(field, 'must not contain control characters or broken Unicode')
    if (++count > maxExtras) throw malformed(field, `at most ${maxExtras} extra_ fields`)
    extra[name] = value
  }
  return extra
}
