import { maskEmail, maskName, maskNumbers } from '../mask.ts'
import type { Mode } from '../mode.ts'
import { cleanText, readUrl } from '../text.ts'
import { type Fields, NumberText } from './json.ts'
import type { Refusal } from './refusal.ts'

// A refused request as it is stored, for the merchant's developer and for support. It has no secrets, of a hash only the
// beginning, and personal data is masked.
export type RefusedRequest = {
  merchant_id: string
  mode: Mode
  request_id: string
  refused_at: Date
  method: string
  path: string // without the query
  http: number // without errors_as_200
  code: string
  field: string | null
  message: string
  hint: Record<string, string> | null
  fields: Record<string, string>
}

// As a merchant reads it. The list is complete on purpose: a new column is not shown by itself.
export const requestRecord = (request: RefusedRequest) => ({
  request_id: request.request_id,
  time: request.refused_at,
  method: request.method,
  path: request.path,
  http: request.http,
  code: request.code,
  field: request.field,
  message: request.message,
  hint: request.hint,
  fields: request.fields,
})

// A refusal as the API has it. `fields` are those that were read before it was refused.
export type RefusedExchange = {
  requestId: string
  method: string
  path: string
  refusal: Refusal
  fields: Fields | undefined
}

export type RecordRefusal = (refused: RefusedExchange) => void

export const requestsKeptDays = 30
export const storedPerCode = 200 // of one merchant and mode on one day

const maxFields = 40
const maxNameLength = 64
const maxValueLength = 200
const maxMessageLength = 500
const shownOfHash = 8

// A developer may put a secret into any field. Ours are recognized by their form, before a long value is cut.
const secretForm = /[0-9a-f]{64,}|whsec_[\w+/=-]{16,}/gi
export const withoutSecrets = (text: string) => text.replace(secretForm, '(removed)')

// `merchant` is undefined if the refusal came before the merchant was known: such a request is not stored.
export function refusedRequest(
  { requestId, method, path, refusal, fields = {} }: RefusedExchange,
  merchant: NonNullable<Refusal['merchant']>,
  now: Date,
): RefusedRequest {
  const withoutPayer = personalIn(fields)
  const text = (value: string) => withoutPayer(cleanText(withoutSecrets(value), maxMessageLength))
  return {
    ...merchant,
    request_id: requestId,
    refused_at: now,
    method,
    path,
    http: refusal.http,
    code: refusal.code,
    field: refusal.field === undefined ? null : cleanText(refusal.field, maxNameLength),
    message: text(refusal.message),
    hint: refusal.hint ? textsOf(refusal.hint, text) : null,
    fields: maskFields(fields),
  }
}

// Only texts: other parts of a hint may repeat fields of the request, which are stored masked already.
const textsOf = (hint: Readonly<Record<string, unknown>>, text: (value: string) => string) =>
  Object.fromEntries(
    Object.entries(hint).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, text(value)] as const] : [],
    ),
  )

export function maskFields(fields: Fields): Record<string, string> {
  const masked: Record<string, string> = {}
  for (const name of Object.keys(fields).slice(0, maxFields))
    masked[nameOf(name)] = maskField(name, fields[name])
  return masked
}

// A client that sends JSON as a form has its whole body as a name.
const nameOf = (name: string) =>
  /^[\w.[\]-]{1,64}$/.test(name) ? name : `(a name of ${name.length} characters)`

const isHash = /hash|signature/i
const isSecret = /secret|passw|token|voucher|otp|cvv|cvc|authorization|private|api_?key|(^|_)pin$/i
const isPhone = /^(number|pymt_instrument|extra_mobile)$/
const isEmailField = /^(email|extra_email)$/
const isNameField = /^(name|extra_name)$/
const isUrl = /^(success|cancelled|cancel|deferred|ipn)_url$/

// Fields whose value is never personal. The value of any other field is replaced by its length: shops send personal data
// under names of their own, and misspell ours.
const shown = new Set([
  'merchant_key',
  'invoice_id',
  'total',
  'refund_id',
  'amount',
  'currency',
  'extra_currency',
  'extra_outlet',
  'extra_wallet_issuer_hint',
  'generate_checkout_url',
  'time',
  'after',
  'limit',
  'outcome',
  'advance',
])

function maskField(name: string, value: unknown): string {
  const text = textOf(value)
  if (text === undefined) return Array.isArray(value) ? `(list of ${value.length})` : '(object)'
  if (text === '') return ''
  if (shown.has(name)) return cleanText(withoutSecrets(text), maxValueLength)
  if (isHash.test(name)) return `${cleanText(text, shownOfHash)}…`
  if (isSecret.test(name)) return '(removed)'
  if (isPhone.test(name)) return maskNumbers(cleanText(withoutSecrets(text), maxNameLength))
  if (isEmailField.test(name)) return maskEmail(cleanText(withoutSecrets(text), maxNameLength))
  if (isNameField.test(name)) return maskName(cleanText(withoutSecrets(text), maxNameLength))
  if (isUrl.test(name)) return withoutQuery(text)
  return `(${text.length} ${text.length === 1 ? 'character' : 'characters'})`
}

function textOf(value: unknown): string | undefined {
  if (value instanceof NumberText) return value.text
  return typeof value === 'object' && value !== null ? undefined : String(value ?? '')
}

// The query of a shop's address may have personal data or a token of the shop.
function withoutQuery(text: string): string {
  const url = readUrl(withoutSecrets(text))
  if (!url) return `(${text.length} characters)`
  return cleanText(`${url.origin}${url.pathname}${url.search ? '?…' : ''}`, maxValueLength)
}

const personal = [isPhone, isEmailField, isNameField]
const leastReplaced = 3 // a shorter value would match other words

// Messages and hints may repeat values of the request.
function personalIn(fields: Fields): (text: string) => string {
  const values = Object.keys(fields).flatMap(name => {
    const value = textOf(fields[name])
    const isPersonal = personal.some(pattern => pattern.test(name))
    return isPersonal && value && value.length >= leastReplaced
      ? [[value, maskField(name, value)] as const]
      : []
  })
  return text => values.reduce((masked, [value, mask]) => masked.replaceAll(value, mask), text)
}
