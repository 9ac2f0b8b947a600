import { feedHeader, feedString } from '../../core/interface/feedSignature.ts'
import * as refusals from '../../core/interface/refusal.ts'
import { hmac, requestString } from '../../core/interface/signature.ts'
import * as status from '../../core/interface/statusRecord.ts'
import { notificationBody } from '../../core/notification/notification.ts'
import { type NewPayment, type Payment, noOutcome } from '../../core/payment/payment.ts'
import { eventsBody } from '../api/events.ts'
import { initiatedBody } from '../api/initiate.ts'

// One made-up payment, told by the same functions that answer for real ones.
export const secret = '00112233445566778899aabbccddeeff'
const merchant_key = 'demo-merchant'
const invoice_id = 'invoice001'
const requestId = 'req_7m2k9c4w8x1z5b3n'
const now = new Date('2026-03-02T09:30:00.000Z')
const sent = {
  success_url: 'https://shop.example/thanks',
  cancelled_url: 'https://shop.example/basket',
  email: 'ama@mail.example',
  name: 'Ama Mensah',
  description: 'Two straw hats',
}

const payment: NewPayment = {
  ...sent,
  merchant_id: '4k2m8w1x9c',
  tx_reference: 'TG-1KJPY4-4E027Z-Q8W4TD',
  mode: 'test',
  invoice_id,
  tx_token: '4k2m8w1x9c00v2n57h3q8r2d6m9w4z1x5c7b0k2j8f',
  status: 'awaiting_payment',
  status_reason: '',
  total: 2500n,
  currency: 'GHS',
  deferred_url: null,
  ipn_url: null,
  number: '+233241234567',
  line_items: null,
  outlet: null,
  pymt_instrument: null,
  wallet_issuer_hint: null,
  extra: { table: '7' },
  request_digest: Buffer.alloc(32),
  created_at: now,
  updated_at: now,
  expires_at: now,
}

export const hashedString = requestString(invoice_id, merchant_key, '25.00')
export const secure_hash = hmac(Buffer.from(secret), hashedString).toString('hex')
export const hashByBytes = hmac(Buffer.from(secret, 'hex'), hashedString).toString('hex')

export const request = {
  merchant_key,
  invoice_id,
  total: '25.00',
  ...sent,
  number: '0241234567',
  extra_table: '7',
  generate_checkout_url: true,
  secure_hash,
}

export const directRequest = {
  merchant_key,
  invoice_id,
  total: '25.00',
  pymt_instrument: '0241234567',
  extra_wallet_issuer_hint: 'mtn',
  secure_hash,
}

export const question = { merchant_key, invoice_id }

const promptedWallet = { payment_method: 'mtn_mobile_money', input: {}, offered: true }

export const storedBody = (baseUrl: string, direct = false) =>
  initiatedBody({ stored: payment, direct: direct ? promptedWallet : undefined }, baseUrl)

const record = status.statusRecord({ ...payment, ...noOutcome }, now, { public_extra: [] }) // the question is not signed
const keyedRecord = { ...record, amount: '25.00' }
export const keyedAnswer = { [invoice_id]: { ...keyedRecord, extra: status.withoutTwins(record.extra) } }
export const statusAnswer = { [invoice_id]: keyedRecord, ...record }
export const statusLine = status.statusLine(payment.tx_reference, payment.status, now)
export const failedLine = status.statusLine(invoice_id, 'error', now)

const wrongHash = refusals.wrongHash('does not match this request')
wrongHash.hint = {
  hashed_string: hashedString,
  likely_mistake: 'the hash is right but base64; send it as hexadecimal',
}

// What can be refused, by the kind of question.
export const bodyRefusals = [
  new refusals.Refusal(413, 'GW-013', 'The body is larger than 64 KiB.'),
  new refusals.Refusal(415, 'GW-014', 'The body must not be compressed.', 'content-encoding'),
]

export const requestRefusals = [
  refusals.missing('merchant_key'),
  refusals.missing('invoice_id'),
  refusals.missing('total'),
  refusals.malformed('total', 'at most 2 decimals (got 5.001)'),
  refusals.unknownMerchant(),
  wrongHash,
  refusals.deactivated(),
  refusals.conflict(),
  ...bodyRefusals,
  refusals.slowDown(1),
  new refusals.Unavailable(undefined),
]

export const checkRefusals = [
  refusals.missing('merchant_key'),
  refusals.missing('invoice_id'),
  refusals.malformed('invoice_id', 'is sent twice with two values'),
  refusals.wrongHash('is required for this merchant'),
  refusals.unknownInvoice(),
  refusals.slowDown(1),
  new refusals.Unavailable(undefined),
]

const unsignedFeed = refusals.wrongSignature(feedHeader, 'is missing')
unsignedFeed.hint = {
  hashed_string: feedString(String(now.getTime() / 1000), merchant_key, '', ''),
  likely_mistake: `${feedHeader} was not sent`,
}

export const feedSignature = `t=${now.getTime() / 1000},v1=${hmac(Buffer.from(secret), unsignedFeed.hint.hashed_string).toString('hex')}`

export const feedRefusals = [
  refusals.missing('merchant_key'),
  refusals.malformed('after', 'must be a cursor that we gave, or empty to begin at the beginning'),
  refusals.unknownMerchant(),
  unsignedFeed,
  refusals.slowDown(1),
  new refusals.Unavailable(undefined),
]

const paid: Payment = {
  ...payment,
  ...noOutcome,
  status: 'paid',
  payment_method: 'mtn_mobile_money',
  payment_time: now,
  reversed_at: null,
  reversed_amount: null,
}
const { tx_reference } = payment
const told = {
  tx_reference,
  sequence: 1,
  type: 'status' as const,
  status: paid.status,
  created_at: now,
  position: 1042n,
}

export const eventsAnswer = JSON.parse(
  JSON.stringify(
    eventsBody({ events: [{ ...told, body: notificationBody(paid, 'post') }], next: 1042n, more: false }),
  ),
)

export function errorBody({ http, code, message, field, hint }: refusals.Refusal) {
  const error = { code, message, ...(field && { field }), ...(hint && { hint }) }
  return { success: false, status: 'error', status_code: http, message, error, request_id: requestId }
}

// A question that is itself unreadable gets the plain error; so does one without an invoice_id, which has nothing to key
// by.
const failedRecord = (refusal: refusals.Refusal) => status.errorRecord(invoice_id, refusal.message)

export function failedKeyedCheck(refusal: refusals.Refusal) {
  const isPlain = refusal.code === 'GW-012' || refusal.code === 'GW-002'
  return isPlain ? errorBody(refusal) : { [invoice_id]: failedRecord(refusal) }
}

export function failedCheck(refusal: refusals.Refusal) {
  const keyed = failedKeyedCheck(refusal)
  return 'success' in keyed ? keyed : { ...keyed, ...failedRecord(refusal), ...errorBody(refusal) }
}
