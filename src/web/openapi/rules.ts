import { feedHeader } from '../../core/interface/feedSignature.ts'
import type { Code } from '../../core/interface/refusal.ts'
import { maxExtras, maxInvoiceLength } from '../../core/interface/request.ts'
import { wholeCurrencies } from '../../core/money.ts'

// Why a request that fits its schema can be refused all the same. The document carries these with each operation as
// x-further-rules, so that a program that reads it knows them too: a refusal of such a request has one of these codes.
export type Rule = { name: string; http: number; code: Code; field?: string; rule: string }

const ruleOf = (name: string, http: number, code: Code, field: string | undefined, rule: string): Rule => ({
  name,
  http,
  code,
  ...(field && { field }),
  rule,
})

const knownKey = ruleOf('known_key', 401, 'GW-008', 'merchant_key', 'A merchant has this key.')
const rightHash = ruleOf(
  'right_hash',
  401,
  'GW-010',
  'secure_hash',
  'It is sent where it is needed, and right.',
)
const inTurn = ruleOf('in_turn', 429, 'GW-060', undefined, 'You do not ask faster than you may.')
const openBooks = ruleOf(
  'open_books',
  503,
  'GW-050',
  undefined,
  'The database is available, and we are not too busy to read the body.',
)
const smallBody = ruleOf('small_body', 413, 'GW-013', undefined, 'The body has at most 64 KiB.')
const smallHeader = ruleOf(
  'small_header',
  431,
  'GW-013',
  undefined,
  'Address and header have at most 16 KiB.',
)
const readable = ruleOf(
  'readable_body',
  400,
  'GW-012',
  undefined,
  'A form has at most 1,000 fields (multipart: 200 parts, a boundary of 70 characters). JSON nests at most 16 levels, has at most 4,000 values, and no key twice.',
)

const malformed = (name: string, field: string, rule: string) => ruleOf(name, 400, 'GW-012', field, rule)

const noDecimals = `has no decimals, or zeros alone, in ${wholeCurrencies.join(', ')}.`

const urls = ['success_url', 'cancelled_url', 'deferred_url', 'ipn_url']
const phones = ['number', 'pymt_instrument']

const ofEveryRequest = [smallHeader, inTurn, openBooks]

const ofPayments: Rule[] = [
  knownKey,
  ruleOf('active_merchant', 403, 'GW-009', 'merchant_key', 'The merchant is not switched off.'),
  rightHash,
  ruleOf('own_invoice', 409, 'GW-005', 'invoice_id', 'It is new, or the request is the stored one again.'),
  malformed(
    'short_invoice',
    'invoice_id',
    `It has at most ${maxInvoiceLength} characters, where your long_invoice_ids is off.`,
  ),
  malformed('own_bounds', 'total', 'It lies within your min_total and max_total for its currency.'),
  malformed(
    'plain_number',
    'total',
    'A JSON number is written without an exponent and with at most 2 decimals.',
  ),
  malformed(
    'plain_items',
    'line_items*',
    'A number in its items is written without an exponent; a total has at most 2 decimals.',
  ),
  malformed('whole_total', 'total', `It ${noDecimals}`),
  malformed('whole_items', 'line_items*', `The total of an item ${noDecimals}`),
  malformed('own_sum', 'line_items', 'The totals of its items make up total.'),
  malformed(
    'own_currency',
    'currency',
    'It, or an extra_currency in its place, is one of your currencies; without it the request is in GHS.',
  ),
  malformed('own_outlet', 'extra_outlet', 'You have such an outlet.'),
  ...urls.map(field =>
    malformed('real_address', field, 'A browser can read it as a URL, its host and port too.'),
  ),
  ...urls.map(field =>
    malformed('own_origin', field, 'It is on one of your origins, where some are registered.'),
  ),
  malformed(
    'own_ipn_url',
    'ipn_url',
    'It is on one of your origins or on that of your ipn_url setting, where ipn_style is basic or form_ipn_url is registered.',
  ),
  ...phones.map(field => malformed('possible_phone', field, 'Its country has numbers of this length.')),
  malformed('possible_wallet', 'pymt_instrument', 'Such a number can have a wallet of the network.'),
  malformed('asked_voucher', 'voucher_code', 'Direct request: as the network wants it, where it wants one.'),
  ruleOf('few_extras', 400, 'GW-012', 'extra_*', `There are at most ${maxExtras} extra_ fields of your own.`),
  ruleOf('whole_text', 400, 'GW-012', '*', 'Texts are well-formed Unicode: no half of a surrogate pair.'),
  ...ofEveryRequest,
]

const ofBodies = [smallBody, readable]

export const rulesOfPayments = [...ofPayments, ...ofBodies]

// Fields of a query are described one by one, so what they need of each other cannot be said there.
export const rulesOfLinks: Rule[] = [
  ...ofPayments,
  malformed(
    'named_issuer',
    'extra_wallet_issuer_hint',
    'In a query: it is there when pymt_instrument is, without a page.',
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
  ruleOf('right_signature', 401, 'GW-010', feedHeader, 'It is right, and its time is not far from ours.'),
  malformed('own_cursor', 'after', 'It is not beyond the end of your events.'),
  ...ofEveryRequest,
]

export const allRules = [...rulesOfPayments, ...rulesOfLinks, ...rulesOfCheckForms, ...rulesOfFeeds]
