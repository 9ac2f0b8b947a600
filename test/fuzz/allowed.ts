import { currencies } from '../../src/core/money.ts'
import { withoutDecoration } from '../../src/core/phone.ts'
import type { Operation, Rule } from './document.ts'
import type { Fields, Question } from './questions.ts'
import type { Answered, Asked } from './send.ts'
import type { Shop } from './shops.ts'

// A request that fits its schema and was refused all the same: by a rule that the document names, and that the request
// really breaks.
export type Refused = {
  question: Question
  asked: Asked
  shop?: Shop // nobody, when the key is made up
  known: Known
}

// What was stored or told so far.
export type Known = { invoices: Set<string>; tokens: string[]; cursors: string[] }

export const invoiceOf = (shop: Shop | undefined, fields: Fields) =>
  `${shop?.merchant_key ?? ''} ${String(fields.invoice_id)}`

export function refusalOf({ http, text, type }: Answered) {
  if (type !== 'application/json') return http >= 400 ? { http } : text.includes('~error~') ? {} : undefined
  const body = JSON.parse(text)
  const record = body.error ? body : Object.values(body)[0]
  if (record?.success !== false) return undefined
  return { http: http >= 400 ? http : (record.status_code as number | undefined), ...body.error }
}

type Refusal = { http?: number; code?: string; field?: string }

export const brokenRule = ({ rules }: Operation, refusal: Refusal, refused: Refused): Rule | undefined =>
  rules.find(
    rule =>
      (refusal.http ?? rule.http) === rule.http &&
      (refusal.code ?? rule.code) === rule.code &&
      isAbout(rule, refusal.field) &&
      breaks[rule.name]?.(refused, refusal.field ?? rule.field ?? ''),
  )

const isAbout = ({ field }: Rule, named: string | undefined) =>
  field === undefined || named === undefined || new RegExp(`^${field.replace('*', '.*')}$`).test(named)

type Breaks = (refused: Refused, field: string) => boolean

const aliases: Record<string, string> = { number: 'extra_mobile', cancelled_url: 'cancel_url' }

const textAt = ({ question: { fields } }: Refused, field: string) =>
  String(fields[field] || fields[aliases[field] ?? ''] || '')

const isAbroad = (text: string) => /^(\+|00)(?!2330?[1-9]\d{8}$)/.test(withoutDecoration(text))
const isMobileOfGhana = (text: string) => /^(0|(\+|00)?2330?)?[25]\d{8}$/.test(withoutDecoration(text))

const isDirect: Breaks = refused => textAt(refused, 'pymt_instrument') !== ''
const isExtra = (name: string) => /^extra_(?!(outlet|wallet_issuer_hint|name|mobile|email)$)/.test(name)

// The reader of multipart forms drops a byte order mark at the start of a value, so the hash has to be made without it.
const losesByteOrderMark = ({ type, fields }: Question) =>
  type === 'multipart/form-data' && Object.values(fields).some(value => String(value).startsWith('\ufeff'))

export const breaks: Record<string, Breaks> = {
  known_key: ({ shop }) => shop === undefined,
  active_merchant: ({ shop }) => shop?.isClosed ?? false,
  right_hash: ({ shop, question }) =>
    shop === undefined || !question.fields.secure_hash || losesByteOrderMark(question),
  right_signature: ({ shop, question: { header } }) => shop === undefined || !header['x-tollgate-signature'],
  own_invoice: ({ shop, question, known }) => known.invoices.has(invoiceOf(shop, question.fields)),
  short_invoice: ({ question: { fields } }) => String(fields.invoice_id).length > 25,
  free_invoice: ({ question: { fields } }) => String(fields.invoice_id).startsWith('tollgate:'),
  own_bounds: ({ shop, question }) => Number(question.fields.total) > (shop?.most ?? 0),
  own_currency: ({ shop, question: { fields } }) =>
    shop !== undefined && !shop.currencies.includes(currencyOf(fields)),
  plain_number: ({ question: { fields } }) =>
    typeof fields.total === 'number' && !/^\d+(\.\d{1,2})?$/.test(JSON.stringify(fields.total)),
  plain_items: ({ question: { fields } }) =>
    itemsOf(fields).some(
      ({ total }) => typeof total === 'number' && !/^\d+(\.\d{1,2})?$/.test(JSON.stringify(total)),
    ),
  whole_total: ({ question: { fields } }) => isWhole(fields) && !isInteger(fields.total),
  whole_items: ({ question: { fields } }) =>
    isWhole(fields) && itemsOf(fields).some(({ total }) => !isInteger(total)),
  own_sum: ({ question: { fields } }) =>
    itemsOf(fields).reduce((sum, { total }) => sum + Math.round(Number(total) * 100), 0) !==
    Math.round(Number(fields.total) * 100),
  own_outlet: refused => textAt(refused, 'extra_outlet') !== '' || refused.question.fields.extra_outlet === 0,
  real_address: (refused, field) => !URL.canParse(textAt(refused, field)),
  own_origin: ({ shop, ...refused }, field) =>
    shop !== undefined &&
    shop.origins.length > 0 &&
    !shop.origins.includes(new URL(textAt(refused, field)).origin),
  own_ipn_url: () => false, // no shop of this test has such settings
  possible_phone: (refused, field) => isAbroad(textAt(refused, field)),
  possible_wallet: refused => isDirect(refused, '') && !isMobileOfGhana(textAt(refused, 'pymt_instrument')),
  asked_voucher: refused =>
    isDirect(refused, '') && /^(telecel|vodafone)$/i.test(textAt(refused, 'extra_wallet_issuer_hint')),
  named_issuer: isDirect,
  few_extras: ({ question: { fields } }) => Object.keys(fields).filter(isExtra).length > 20,
  whole_text: ({ question: { fields } }) => !JSON.stringify(fields).isWellFormed() || hasHalf(fields),
  small_body: ({ asked: { body } }) => (body?.length ?? 0) > 65_536,
  small_header: ({ asked: { address } }) => address.length > 14_000,
  readable_body: ({ asked: { body } }) => /(\[|\{"[^"]*":){16}/.test(String(body)),
  rate_limit: refused => isDirect(refused, '') || refused.asked.address.startsWith('/v1/test/'),
  database_available: () => true, // the machine may be too busy
  known_payment: ({ shop, question, known }) => !known.invoices.has(invoiceOf(shop, question.fields)),
  // No payment of this test is paid, so nothing is refunded.
  paid_invoice: ({ shop, question, known }) => !known.invoices.has(invoiceOf(shop, question.fields)),
  paid_payment: () => true,
  allowed_refunds: ({ shop }) => shop?.merchant_key.startsWith('lk_') ?? false,
  enough_left: () => false,
  recent_payment: () => false,
  least_refund: () => false,
  whole_refund: () => false,
  daily_limit: () => false,
  own_refund: () => false,
  known_refund: () => true,
  whole_amount: ({ question: { fields } }) => !isInteger(fields.amount),
  no_dots: ({ question: { fields } }) => /^\.\.?$/.test(String(fields.refund_id)),
  plain_reason: ({ question: { fields } }) => hasHalf(fields),
  own_page: ({ question: { fields } }) => String(fields.after ?? '') !== '',
  test_key: ({ shop }) => shop?.merchant_key.startsWith('lk_') ?? false,
  recent_time: ({ question: { fields } }) => Math.abs(Date.now() / 1000 - Number(fields.time)) > 299,
  one_reading: ({ question: { fields } }) =>
    Object.values(fields).some(value => typeof value === 'string' && /&[a-z_]+=/.test(value)),
  sandbox_total: ({ question: { fields } }) => Number(fields.total) <= 0.05,
  wallet_currency: ({ question: { fields } }) => currencyOf(fields) !== 'GHS',
  sandbox_offered: () => false, // the sandbox of this test offers every wallet
  short_advance: ({ question: { fields } }) => secondsOf(String(fields.advance)) > 30 * 86_400,
  own_cursor: ({ question: { fields }, known }) => !known.cursors.includes(String(fields.after ?? '')),
}

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 }
const secondsOf = (advance: string) => Number(advance.slice(0, -1)) * (unitSeconds[advance.slice(-1)] ?? 0)

// One in a field of the merchant's own counts, where it is one that we know.
function currencyOf({ currency, extra_currency }: Fields): string {
  const word = String(extra_currency).trim().toUpperCase()
  return String(currency || (currencies.some(code => code === word) ? word : 'GHS'))
}

const withoutDecimals = ['BIF', 'DJF', 'GNF', 'KMF', 'RWF', 'UGX', 'XAF', 'XOF']
const isWhole = (fields: Fields) => withoutDecimals.includes(currencyOf(fields))
const isInteger = (total: unknown) => Number.isInteger(Number(total))

const itemsOf = ({ line_items }: Fields) =>
  Array.isArray(line_items) ? (line_items as { total: unknown }[]) : []

// JSON writes half of a pair as an escape.
const hasHalf = (fields: Fields) => /\\ud[89a-f]/i.test(JSON.stringify(fields))
