import {
  feedString,
  hmac,
  refundCheckString,
  refundString,
  requestString,
  statusString,
} from '../../src/core/interface/signature.ts'
import { ipnRequest, signingKey } from '../../src/core/notification/delivery.ts'

// The signatures that every SDK must compute, made by the gateway's own code. sdk/vectors.json has them for the SDKs.
const secret = '00112233445566778899aabbccddeeff'
const merchant_key = 'demo-merchant'
const hash = (string: string) => hmac(Buffer.from(secret), string).toString('hex')

const requests = [
  { invoice_id: 'invoice001', total: '25.00' },
  { invoice_id: 'A-1/2.3_4#5:6 7', total: '0.5' },
  { invoice_id: 'invoice001' }, // a status check
].map((fields: { invoice_id: string; total?: string }) => {
  const { invoice_id, total } = fields
  const string =
    total === undefined
      ? statusString(invoice_id, merchant_key)
      : requestString(invoice_id, merchant_key, total)
  return { merchant_key, secret, fields, string, hash: hash(string) }
})

const refunds = [
  { amount: '10.00', invoice_id: 'invoice001', refund_id: 'R-1042' },
  { amount: '0.5', invoice_id: 'A-1/2.3_4#5:6 7', refund_id: 'a.B_c-9' },
  { refund_id: 'R-1042' }, // the check of a refund
].map((fields: { amount?: string; invoice_id?: string; refund_id: string }) => {
  const { amount, invoice_id, refund_id } = fields
  const string =
    amount === undefined || invoice_id === undefined
      ? refundCheckString(merchant_key, refund_id)
      : refundString({ amount, invoice_id, merchant_key, refund_id })
  return { merchant_key, secret, fields, string, hash: hash(string) }
})

const feed = [
  { t: '1772443800', after: '', limit: '100' },
  { t: '1772443800', after: '1042', limit: '500' },
].map(question => {
  const string = feedString(question.t, merchant_key, question.after, question.limit)
  return { merchant_key, secret, ...question, string, hash: hash(string) }
})

const sentAt = 1_772_443_800
const ipnSecret = 'whsec_YW4gZXhhbXBsZSwgbm90IGEgc2VjcmV0IGF0IGFsbCE='
const otherSecret = 'whsec_YW5vdGhlciBleGFtcGxlLCBubyBzZWNyZXQgZWl0aGVyIQ=='
const tx_reference = 'TG-1KJPY4-4E027Z-Q8W4TD'
const body = `{"invoice_id":"AMA-1042","tx_reference":"${tx_reference}","status":"paid","amount":25,"name":"Åsa"}`

type Case = { body?: string; headers?: Record<string, string | undefined>; now?: number; code?: string }

const signed = (...secrets: string[]) => {
  const delivery = { merchant_id: '', tx_reference, sequence: 1, url: 'https://shop.example', tries: 1, body }
  const signer = { keys: secrets.map(signingKey), merchant_key, passwordOrigins: [] }
  return ipnRequest({ ...delivery, style: 'post' }, signer, new Date(sentAt * 1000)).headers
}

const right = signed(ipnSecret)
const notifications = Object.entries<Case>({
  'as sent': {},
  'during a rotation: one of two signatures is right': { headers: signed(otherSecret, ipnSecret) },
  'at the end of the tolerance': { now: sentAt + 300 },
  'a clock that is behind, at the end of the tolerance': { now: sentAt - 300 },
  'an altered body': { body: body.replace('25', '99'), code: 'signature_mismatch' },
  'the same JSON with other bytes': { body: body.replace(',', ', '), code: 'signature_mismatch' },
  'signed with another secret': { headers: signed(otherSecret), code: 'signature_mismatch' },
  'another id': { headers: { ...right, 'webhook-id': `${tx_reference}-N2` }, code: 'signature_mismatch' },
  'another time': { headers: { ...right, 'webhook-timestamp': '1772443801' }, code: 'signature_mismatch' },
  'another version of signatures': {
    headers: { ...right, 'webhook-signature': right['webhook-signature']?.replace('v1,', 'v2,') },
    code: 'signature_mismatch',
  },
  'no signature': { headers: { ...right, 'webhook-signature': undefined }, code: 'signature_missing' },
  'an empty signature': { headers: { ...right, 'webhook-signature': '' }, code: 'signature_missing' },
  'no id': { headers: { ...right, 'webhook-id': undefined }, code: 'signature_missing' },
  'no time': { headers: { ...right, 'webhook-timestamp': undefined }, code: 'signature_missing' },
  'too old': { now: sentAt + 301, code: 'timestamp_out_of_tolerance' },
  'too new': { now: sentAt - 301, code: 'timestamp_out_of_tolerance' },
}).map(([name, { code, ...changed }]) => {
  const { 'user-agent': _, ...headers } = changed.headers ?? right
  return {
    name,
    secret: ipnSecret,
    now: sentAt + 1,
    body,
    ...changed,
    headers,
    valid: !code,
    ...(code && { code }),
  }
})

export const vectors = JSON.parse(JSON.stringify({ requests, refunds, feed, notifications })) as {
  requests: typeof requests
  refunds: typeof refunds
  feed: typeof feed
  notifications: typeof notifications
}
