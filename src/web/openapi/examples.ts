import type { Refusal } from '../../core/interface/refusal.ts'
import { hmac, requestString } from '../../core/interface/signature.ts'
import type { NewPayment } from '../../core/payment/payment.ts'
import { refusalBody } from '../http/errors.ts'

// One made-up payment. The functions that answer real requests render it, so the examples have the real format.
export const exampleSecret = '00112233445566778899aabbccddeeff'
export const exampleKeys = { merchant_key: 'demo-merchant', invoice_id: 'invoice001' }
export const exampleRequestId = 'req_7m2k9c4w8x1z5b3n'
export const exampleTime = new Date('2026-03-02T09:30:00.000Z')

const { invoice_id, merchant_key } = exampleKeys
export const exampleRequestString = requestString(invoice_id, merchant_key, '25.00')
export const exampleHash = hmac(Buffer.from(exampleSecret), exampleRequestString).toString('hex')
export const exampleHexKeyHash = hmac(Buffer.from(exampleSecret, 'hex'), exampleRequestString).toString('hex')

export const exampleDetails = {
  success_url: 'https://shop.example/thanks',
  cancelled_url: 'https://shop.example/basket',
  email: 'ama@mail.example',
  name: 'Ama Mensah',
  description: 'Two straw hats',
}

export const examplePayment: NewPayment = {
  ...exampleDetails,
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
  created_at: exampleTime,
  updated_at: exampleTime,
  expires_at: exampleTime,
  traceparent: null,
}

export const exampleContext = { requestId: exampleRequestId, baseUrl: 'https://pay.example' }

export const exampleError = (refusal: Refusal) => refusalBody(refusal, exampleContext)
