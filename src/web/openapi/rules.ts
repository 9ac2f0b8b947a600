import type { Code } from '../../core/interface/refusal.ts'
import { maxExtras, maxInvoiceLength } from '../../core/interface/request.ts'
import { feedHeader, graceSeconds } from '../../core/interface/signature.ts'
import { wholeCurrencies } from '../../core/money.ts'

// The reasons to refuse a request that fits its schema. The document lists them with each operation as x-further-rules,
// so that programs can read them: a refusal of such a request has one of these codes.
export type Rule = { name: string; http: number; code: Code; field?: string; rule: string }

const ruleOf = (name: string, http: number, code: Code, field: string | undefined, rule: string): Rule => ({
  name,
  http,
  code,
  ...(field && { field }),
  rule,
})

const malformed = (name: string, field: string, rule: string) => ruleOf(name, 400, 'GW-012', field, rule)

const knownKey = ruleOf('known_key', 401, 'GW-008', 'merchant_key', 'A merchant has this key.')
const rightHash = ruleOf(
  'right_hash',
  401,
  'GW-010',
  'secure_hash',
  'It is sent where it is required, and it matches.',
)

const ofEveryRequest = [
  ruleOf('small_header', 431, 'GW-013', undefined, 'The address and the headers have at most 16 KiB.'),
  ruleOf('rate_limit', 429, 'GW-060', undefined, 'You stay within your rate limit.'),
  ruleOf(
    'database_available',
    503,
    'GW-050',
    undefined,
    'The database is available, and the gateway is not too busy to read the body.',
  ),
]

const ofBodies = [
  ruleOf('small_body', 413, 'GW-013', undefined, 'The body has at most 64 KiB.'),
  ruleOf(
    'readable_body',
    400,
    'GW-012',
    undefined,
    'A form has at most 1,000 fields (multipart: 200 parts, a boundary of 70 characters). JSON has at most 16 levels and 4,000 values, and no key twice.',
  ),
]

const noDecimals = `has no decimals, or only zeros, in ${wholeCurrencies.join(', ')}.`

const urls = ['success_url', 'cancelled_url', 'deferred_url', 'ipn_url']
const phones = ['number', 'pymt_instrument']

const ofPayments: Rule[] = [
  knownKey,
  ruleOf('active_merchant', 403, 'GW-009', 'merchant_key', 'The merchant is active.'),
  rightHash,
  ruleOf('own_invoice', 409, 'GW-005', 'invoice_id', 'It is new, or the request equals the stored one.'),
  malformed(
    'short_invoice',
    'invoice_id',
    `It has at most ${maxInvoiceLength} characters, unless long_invoice_ids is on.`,
  ),
  malformed('own_bounds', 'total', 'It is within your min_total and max_total for its currency.'),
  malformed('plain_number', 'total', 'A JSON number has no exponent and at most 2 decimals.'),
  malformed(
    'plain_items',
    'line_items*',
    'A number in the items has no exponent, and a total has at most 2 decimals.',
  ),
  malformed('whole_total', 'total', `It ${noDecimals}`),
  malformed('whole_items', 'line_items*', `The total of an item ${noDecimals}`),
  malformed('own_sum', 'line_items', 'The totals of the items add up to total.'),
  malformed(
    'own_currency',
    'currency',
    'It, or extra_currency if it is absent, is one of your currencies. Without both the currency is GHS.',
  ),
  malformed('own_outlet', 'extra_outlet', 'You have an outlet with this code.'),
  ...urls.map(field => malformed('real_address', field, 'It is a valid URL, including its host and port.')),
  ...urls.map(field =>
    malformed('own_origin', field, 'It is on one of your registered origins, if you have any.'),
  ),
  malformed(
    'own_ipn_url',
    'ipn_url',
    'If ipn_style is basic or form_ipn_url is registered: it is on a registered origin or on the origin of your ipn_url setting.',
  ),
  ...phones.map(field =>
    malformed('possible_phone', field, 'Phone numbers of its country can have this length.'),
  ),
  malformed('possible_wallet', 'pymt_instrument', 'The number can have a wallet of the network.'),
  malformed(
    'asked_voucher',
    'voucher_code',
    'Direct request: it is sent if the network requires one, in the format of the network.',
  ),
  malformed('few_extras', 'extra_*', `There are at most ${maxExtras} extra_ fields of your own.`),
  malformed('whole_text', '*', 'Texts are well-formed Unicode, without lone surrogates.'),
  ...ofEveryRequest,
]

export const rulesOfPayments = [...ofPayments, ...ofBodies]

// The parameters of a query are described one by one, so their schemas cannot express dependencies between them.
export const rulesOfLinks: Rule[] = [
  ...ofPayments,
  malformed(
    'named_issuer',
    'extra_wallet_issuer_hint',
    'In a query: it is sent if pymt_instrument is sent without generate_checkout_url.',
  ),
]

export const rulesOfChecks: Rule[] = [
  ruleOf(
    'known_payment',
    404,
    'GW-005',
    'invoice_id',
    'Status check: the merchant has a payment with this invoice_id.',
  ),
  rightHash,
  ...ofEveryRequest,
]

export const rulesOfCheckForms = [...rulesOfChecks, ...ofBodies]

export const rulesOfFeeds: Rule[] = [
  knownKey,
  ruleOf(
    'right_signature',
    401,
    'GW-010',
    feedHeader,
    `It matches, and its time is within ${graceSeconds} seconds of ours.`,
  ),
  malformed('own_cursor', 'after', 'It is not beyond the end of your events.'),
  ...ofEveryRequest,
]

export const allRules = [...rulesOfPayments, ...rulesOfLinks, ...rulesOfCheckForms, ...rulesOfFeeds]
