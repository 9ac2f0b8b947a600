import { z } from 'zod'
import { lineItemsIn, checkSum } from '../lineItems.ts'
import {
  currencies,
  type Currency,
  isCurrency,
  parseMoney,
  defaultCurrency,
  wholeCurrencies,
} from '../money.ts'
import { parsePhone } from '../phone.ts'
import { emailPattern, isAtMost, isPlainText, onOneLine, parseUrl } from '../text.ts'
import type { UntrustedUrl } from '../urlTrust.ts'
import { type Fields, noFields, NumberText } from './json.ts'
import * as patterns from './patterns.ts'
import { malformed, type Refusal } from './refusal.ts'
import { recordKeys } from './statusRecord.ts'

// The fields of a payment request. These schemas validate requests, and the OpenAPI document is generated from them.
export const maxExtras = 20
export const maxExtraLength = 255
export const maxInvoiceLength = 25
const maxLongInvoiceLength = 64 // if the merchant's long_invoice_ids is on

// A form may send several lines.
const lines = (max: number) =>
  z
    .string('must be text')
    .meta({ maxLength: max, pattern: patterns.multilineText })
    .transform(onOneLine)
    .pipe(patterns.textField(max))

const phone = (fault: string) =>
  z
    .string('must be text')
    .meta({ pattern: patterns.phone })
    .transform((value, context) => parsePhone(value) ?? (context.addIssue(fault), z.NEVER))

const url = patterns.textField(2048, patterns.url).transform((value, context): UntrustedUrl => {
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
  .refine(id => !recordKeys.has(id), 'is a key of the status record; choose another')
  .meta({ if: { not: { enum: [...recordKeys] } }, else: false }) // a bare `not` becomes the type any in generated clients

export const isInvoiceId = (id: string) => invoiceId.safeParse(id).success

const totalIn = (currency: Currency) =>
  z
    .union([z.string(), patterns.numberField], 'must be text or a number')
    .transform((value, context) => {
      const minor = parseMoney(value instanceof NumberText ? value.text : value, currency)
      if (typeof minor === 'bigint') return minor
      context.addIssue(minor)
      return z.NEVER
    })
    .meta({
      description:
        'Total due in major units: more than zero, at most 2 decimals, no exponent. A currency without decimals ' +
        `(${wholeCurrencies.join(', ')}) takes only zeros after the dot.`,
      examples: ['25.00'],
      pattern: patterns.total,
      allOf: [{ type: ['string', 'number'], pattern: patterns.moreThanZero }], // its type again, or generated clients have any
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
  .union([patterns.textField(maxExtraLength), patterns.numberField], 'must be text or a number')
  .transform(value => (value instanceof NumberText ? value.text : value))

const email = patterns
  .textField(254)
  .regex(emailPattern, 'is not an email address')
  .meta({ pattern: patterns.email })

const networks = ['mtn', 'airtel', 'tigo', 'airteltigo', 'vodafone', 'telecel'] as const

const issuerHint = z
  .string('must be text')
  .meta({ pattern: patterns.anyCase(networks) })
  .transform(value => value.toLowerCase())
  .pipe(z.enum(networks, `must be one of ${networks.join(', ')}`))

const optional = <Schema extends z.ZodType>(schema: Schema, description: string) =>
  schema.optional().describe(description)

export const requestSchema = z.object({
  merchant_key: z
    .string('must be text')
    .meta({ minLength: 1, description: 'The merchant key assigned to you.' }),
  invoice_id: invoiceId.meta({
    description:
      `Your own transaction id, unique per merchant and mode: at most ${maxInvoiceLength} characters, or ` +
      `${maxLongInvoiceLength} if your operator has set long_invoice_ids.`,
    examples: ['AMA-1042'],
  }),
  total: totalIn(defaultCurrency),
  currency: z
    .enum(currencies, `must be one of ${currencies.join(', ')}`)
    .optional()
    .meta({
      description:
        'Currency of total: one of those that your operator has set for you, by default only GHS. If it is absent, ' +
        'an extra_currency with one of these codes is used, and otherwise GHS.',
    }),
  success_url: optional(url, 'The customer is redirected here after completing checkout.'),
  cancelled_url: optional(url, 'The customer is redirected here after cancelling. `cancel_url` is an alias.'),
  deferred_url: optional(url, 'The customer is redirected here if the payment method is paid later.'),
  ipn_url: optional(
    url,
    'The address for the notifications of this payment, instead of your ipn_url setting. With ipn_style basic or ' +
      'form_ipn_url registered it must be on one of your origins.',
  ),
  number: phone('is not a possible phone number (0241234567, 233241234567 or +233241234567)')
    .optional()
    .meta({
      description: 'Customer contact number. `extra_mobile` is an alias.',
      examples: ['0241234567'],
    }),
  email: optional(email, 'Customer email address. `extra_email` is an alias.'),
  name: optional(patterns.textField(120), 'Customer name. `extra_name` is an alias.'),
  description: optional(
    lines(500),
    'What the payment is for; the customer sees it. Line breaks and tabs become spaces.',
  ),
  line_items: lineItemsIn(defaultCurrency),
  extra_outlet: optional(outlet, 'Code of one of your outlets.'),
  generate_checkout_url: optional(
    yes,
    'Required, and true, unless the request is a direct one (pymt_instrument) or is sent to an older address. ' +
      'The response then has the checkout address. The texts "true" and "1" and the number 1 are accepted too.',
  ),
  pymt_instrument: optional(
    phone('is not a possible phone number'),
    'Direct request without a page: the wallet whose owner approves on the phone.',
  ),
  extra_wallet_issuer_hint: optional(
    issuerHint,
    `Direct request: the network of the wallet, ${networks.join(', ')}, in any letter case.`,
  ),
  voucher_code: optional(
    patterns.textField(20),
    'Direct request: the voucher code if the network requires one, as Telecel does.',
  ),
  secure_hash: optional(
    z.string('must be text').meta({ pattern: patterns.hexDigest }),
    'HMAC-SHA-256 of the request string, hexadecimal in any letter case. Required, unless the merchant has ' +
      'unsigned_requests on and the request is a direct one or is sent to an older address.',
  ),
})

// The decimals of an amount depend on its currency, so each currency has its own schema.
const schemas = new Map<Currency, typeof requestSchema>([[defaultCurrency, requestSchema]])

function schemaIn(currency: Currency): typeof requestSchema {
  const known = schemas.get(currency)
  if (known) return known
  const schema = requestSchema.extend({ total: totalIn(currency), line_items: lineItemsIn(currency) })
  schemas.set(currency, schema)
  return schema
}

export type PaymentRequest = z.output<typeof requestSchema> & { extra: Record<string, string> }

// Names of older clients for fields of the contract. If both are sent, the name of the contract wins.
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

// Older clients send the currency in a field of their own. A known code, in any letter case, is the currency, so that the
// customer is not charged in another one. Any other value is an ordinary extra field.
function currencyIn(value: unknown) {
  const code = typeof value === 'string' && value.trim().toUpperCase()
  return isCurrency(code) ? code : undefined
}

// A form has no lists, so a form field of this name means something else.
export const withoutLists = (form: Fields): Fields => ({ ...form, line_items: undefined })

// Validates every field. Throws a Refusal for the first invalid one.
export function parseRequest(fields: Fields): PaymentRequest {
  const currency = isCurrency(fields.currency) ? fields.currency : defaultCurrency
  const parsed = schemaIn(currency).safeParse(fields)
  if (!parsed.success) throw firstFault(parsed.error)
  const wrongSum = checkSum(parsed.data.line_items, parsed.data.total, currency)
  if (wrongSum) throw wrongSum
  return { ...parsed.data, extra: parseExtras(fields) }
}

function firstFault(error: z.ZodError): Refusal {
  const issue = error.issues[0]
  return malformed(fieldAt(issue?.path ?? []), issue?.message ?? 'is not valid')
}

// As a path: line_items[2].total.
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
      throw malformed(field.slice(0, 80), 'the name after extra_ must have 1 to 64 letters, digits, _ . or -')
    if (typeof value !== 'string') throw malformed(field, 'must be text')
    if (!isAtMost(value, maxExtraLength)) throw malformed(field, `at most ${maxExtraLength} characters`)
    if (!isPlainText(value)) throw malformed(field, 'must not contain control characters or broken Unicode')
    if (++count > maxExtras) throw malformed(field, `at most ${maxExtras} extra_ fields`)
    extra[name] = value
  }
  return extra
}

// A canonical text of all fields, which is equal for a repeated request. Absent fields are left out, so that a field
// added in a later version does not change it.
export function requestFingerprint(request: PaymentRequest): string {
  const pairs: [string, string][] = []
  for (const name of comparedFields) {
    const value = request[name] ?? (name === 'currency' ? defaultCurrency : undefined)
    if (value !== undefined) pairs.push([name, canonical(value)])
  }
  for (const name of Object.keys(request.extra).sort())
    pairs.push([`extra_${name}`, request.extra[name] as string])
  return JSON.stringify(pairs)
}

// Lists as JSON, with money as digits.
const canonical = (value: unknown) =>
  Array.isArray(value)
    ? JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner))
    : String(value)

const notCompared = new Set(['merchant_key', 'invoice_id', 'secure_hash', 'generate_checkout_url'])
const comparedFields = (Object.keys(requestSchema.shape) as (keyof typeof requestSchema.shape)[])
  .filter(name => !notCompared.has(name))
  .sort()
