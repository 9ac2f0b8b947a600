import type { Code } from '../../core/interface/refusal.ts'
import { maxExtras, maxInvoiceLength } from '../../core/interface/request.ts'
import { feedHeader, graceSeconds } from '../../core/interface/signature.ts'
import { wholeCurrencies } from '../../core/money.ts'
import { takenPrefix } from '../../core/payment/takenPayment.ts'

// The reasons to refuse a request that fits its schema. The document lists them with each operation as x-further-rules,
// so that programs can read them: a refusal of such a request has one of these codes.
export type Rule = { name: string; http: number; code: Code; field?: string; rule: string }

// By name: the text of a rule about the whole request, or the text for each field.
type RuleTexts = Record<string, string | Record<string, string>>

const rules = (http: number, code: Code, texts: RuleTexts): Rule[] =>
  Object.entries(texts).flatMap(([name, text]): Rule[] =>
    typeof text === 'string'
      ? [{ name, http, code, rule: text }]
      : Object.entries(text).map(([field, rule]) => ({ name, http, code, field, rule })),
  )

const forEach = (fields: readonly string[], rule: string) =>
  Object.fromEntries(fields.map(field => [field, rule]))

const knownKey = rules(401, 'GW-008', { known_key: { merchant_key: 'A merchant has this key.' } })
const rightHash = rules(401, 'GW-010', {
  right_hash: { secure_hash: 'It is sent where it is required, and it matches.' },
})

const ofEveryRequest = [
  ...rules(431, 'GW-013', { small_header: 'The address and the headers have at most 16 KiB.' }),
  ...rules(429, 'GW-060', { rate_limit: 'You stay within your rate limit.' }),
  ...rules(503, 'GW-050', {
    database_available: 'The database is available, and the gateway is not too busy to read the body.',
  }),
]

const ofBodies = [
  ...rules(413, 'GW-013', { small_body: 'The body has at most 64 KiB.' }),
  ...rules(400, 'GW-012', {
    readable_body:
      'A form has at most 1,000 fields (multipart: 200 parts, a boundary of 70 characters). JSON has at most 16 levels and 4,000 values, and no key twice.',
  }),
]

const noDecimals = `has no decimals, or only zeros, in ${wholeCurrencies.join(', ')}.`

const urls = ['success_url', 'cancelled_url', 'deferred_url', 'ipn_url']
const phones = ['number', 'pymt_instrument']

const ofPayments: Rule[] = [
  ...knownKey,
  ...rules(403, 'GW-009', { active_merchant: { merchant_key: 'The merchant is active.' } }),
  ...rightHash,
  ...rules(409, 'GW-005', {
    own_invoice: { invoice_id: 'It is new, or the request equals the stored one.' },
  }),
  ...rules(400, 'GW-012', {
    short_invoice: {
      invoice_id: `It has at most ${maxInvoiceLength} characters, unless long_invoice_ids is on.`,
    },
    free_invoice: {
      invoice_id: `It does not begin with ${takenPrefix}, which is for payments taken on the dashboard.`,
    },
    own_bounds: { total: 'It is within your min_total and max_total for its currency.' },
    plain_number: { total: 'A JSON number has no exponent and at most 2 decimals.' },
    plain_items: {
      'line_items*': 'A number in the items has no exponent, and a total has at most 2 decimals.',
    },
    whole_total: { total: `It ${noDecimals}` },
    whole_items: { 'line_items*': `The total of an item ${noDecimals}` },
    own_sum: { line_items: 'The totals of the items add up to total.' },
    own_currency: {
      currency:
        'It, or extra_currency if it is absent, is one of your currencies. Without both the currency is GHS.',
    },
    own_outlet: { extra_outlet: 'You have an outlet with this code.' },
    real_address: forEach(urls, 'It is a valid URL, including its host and port.'),
    own_origin: forEach(urls, 'It is on one of your registered origins, if you have any.'),
    own_ipn_url: {
      ipn_url:
        'If ipn_style is basic or form_ipn_url is registered: it is on a registered origin or on the origin of your ipn_url setting.',
    },
    possible_phone: forEach(phones, 'Phone numbers of its country can have this length.'),
    possible_wallet: { pymt_instrument: 'The number can have a wallet of the network.' },
    asked_voucher: {
      voucher_code: 'Direct request: it is sent if the network requires one, in the format of the network.',
    },
    few_extras: { 'extra_*': `There are at most ${maxExtras} extra_ fields of your own.` },
    whole_text: { '*': 'Texts are well-formed Unicode, without lone surrogates.' },
  }),
  ...ofEveryRequest,
]

export const rulesOfPayments = [...ofPayments, ...ofBodies]

// The parameters of a query are described one by one, so their schemas cannot express dependencies between them.
export const rulesOfLinks = [
  ...ofPayments,
  ...rules(400, 'GW-012', {
    named_issuer: {
      extra_wallet_issuer_hint:
        'In a query: it is sent if pymt_instrument is sent without generate_checkout_url.',
    },
  }),
]

export const rulesOfChecks = [
  ...rules(404, 'GW-005', {
    known_payment: { invoice_id: 'Status check: the merchant has a payment with this invoice_id.' },
  }),
  ...rightHash,
  ...ofEveryRequest,
]

export const rulesOfCheckForms = [...rulesOfChecks, ...ofBodies]

export const rulesOfFeeds = [
  ...knownKey,
  ...rules(401, 'GW-010', {
    right_signature: {
      [feedHeader]: `It matches, and its time is within ${graceSeconds} seconds of ours.`,
    },
  }),
  ...rules(400, 'GW-012', { own_cursor: { after: 'It is not beyond the end of your events.' } }),
  ...ofEveryRequest,
]

const refundFaults = [
  ...rules(404, 'GW-005', {
    paid_invoice: { invoice_id: 'Refund: the merchant has a payment with this invoice_id.' },
  }),
  ...rules(409, 'GW-021', { paid_payment: { invoice_id: 'The payment is paid.' } }),
  ...rules(403, 'GW-022', {
    allowed_refunds: { merchant_key: 'Your setting refunds is on, or it is a test key.' },
  }),
  ...rules(409, 'GW-020', {
    enough_left: {
      amount:
        'It is at most what is left of the payment, after refunds, reversals and open or lost disputes.',
    },
  }),
  ...rules(409, 'GW-023', {
    recent_payment: { invoice_id: 'The provider still refunds a payment of this age.' },
  }),
  ...rules(409, 'GW-024', { least_refund: { amount: 'The provider refunds so little.' } }),
  ...rules(409, 'GW-025', {
    whole_refund: { amount: 'It is the whole amount, if the provider has no partial refunds.' },
  }),
  ...rules(409, 'GW-026', {
    daily_limit: { amount: 'Your refunds of this day stay within refund_daily_limit.' },
  }),
  ...rules(409, 'GW-027', {
    own_refund: { refund_id: 'Refund: it is new, or the request equals the stored one.' },
  }),
  ...rules(400, 'GW-012', {
    whole_amount: { amount: `Refund: it ${noDecimals}` },
    no_dots: { refund_id: 'It is neither . nor .. alone.' },
    plain_reason: { reason: 'It is well-formed Unicode.' },
  }),
]

export const rulesOfRefunds = [
  ...knownKey,
  ...rightHash,
  ...ofPayments.filter(({ name }) => name === 'active_merchant'),
  ...refundFaults,
  ...ofEveryRequest,
  ...ofBodies,
]

export const rulesOfRefundChecks = [
  ...knownKey,
  ...rightHash,
  ...rules(404, 'GW-028', { known_refund: { refund_id: 'The merchant has a refund with this refund_id.' } }),
  ...ofEveryRequest,
]

// Of the endpoints that sign all fields and the time.
const ofSigned = [
  ...knownKey,
  ...rightHash,
  ...rules(401, 'GW-010', {
    recent_time: { time: `It is within ${graceSeconds} seconds of our clock.` },
  }),
  ...rules(400, 'GW-012', {
    one_reading: { '*': 'Signed requests: no value contains & and the name of a field and =.' },
  }),
  ...ofEveryRequest,
]

export const rulesOfRequests = [
  ...ofSigned,
  ...rules(400, 'GW-012', { own_page: { after: 'It is a request_id of your list.' } }),
]

const ofTests = [
  ...ofSigned,
  ...ofBodies,
  ...ofPayments.filter(({ name }) => name === 'active_merchant'),
  ...rules(403, 'GW-015', { test_key: { merchant_key: 'Triggers and the clock: it is a test key.' } }),
]

const rulesOfDetails = [
  'own_invoice',
  'short_invoice',
  'own_bounds',
  'plain_number',
  'whole_total',
  'own_currency',
  'real_address',
  'own_origin',
  'own_ipn_url',
  'possible_phone',
  'whole_text',
]

export const rulesOfTriggers = [
  ...ofTests,
  ...ofPayments.filter(({ name }) => rulesOfDetails.includes(name)),
  ...rules(400, 'GW-012', {
    sandbox_total: {
      total: 'Triggers: it is more than 0.05, because smaller ones have outcomes of their own.',
    },
    wallet_currency: { currency: 'Triggers: it is GHS, because they pay by mobile money.' },
    sandbox_offered: { outcome: 'Triggers: the simulated provider takes mobile money for this payment.' },
  }),
]

export const rulesOfClocks = [
  ...ofTests,
  ...rules(400, 'GW-012', { short_advance: { advance: 'It is at most 30d.' } }),
]
