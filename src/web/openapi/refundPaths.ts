import { hexDigest, moreThanZero, plainText, total } from '../../core/interface/patterns.ts'
import { maxRefundReasonLength, refundIdPattern, refundRefusal } from '../../core/interface/refundRequest.ts'
import * as refusals from '../../core/interface/refusal.ts'
import { hmac, refundCheckString, refundString } from '../../core/interface/signature.ts'
import type { Refund } from '../../core/refund/refund.ts'
import { refundBody } from '../api/refunds.ts'
import { exampleKeys, examplePayment, exampleSecret, exampleTime } from './examples.ts'
import { bodyOf, errorResponses, jsonContent, operation, type Paths, queryOf, response } from './operation.ts'
import { bodyRefusals } from './paymentPaths.ts'
import type { Json } from './requestSchema.ts'
import { rulesOfRefundChecks, rulesOfRefunds } from './rules.ts'
import { anyOf } from './schemas.ts'

const { merchant_key, invoice_id } = exampleKeys
const signedFields = { amount: '10.00', invoice_id, merchant_key, refund_id: 'R-1042' }
const { refund_id } = signedFields

export const exampleRefund: Refund = {
  merchant_id: examplePayment.merchant_id,
  refund_reference: '4k2m8w1x9c6h3q8r2d6m9w4z1x5c7b0k2j8f',
  refund_id,
  mode: 'test',
  tx_reference: examplePayment.tx_reference,
  invoice_id,
  attempt_id: '4k2m8w1x9c8f2j0k7b5c1x4z9w6d2r3q8h',
  source: 'payment',
  kind: 'provider',
  provider_account: 'sandbox',
  account_identity: null,
  idempotency_key: null,
  amount: 1000n,
  currency: 'GHS',
  reason: 'One hat returned',
  requested_by: 'merchant',
  operator: null,
  state: 'pending',
  state_reason: '',
  provider_ref: null,
  provider_code: null,
  sends: 1,
  sent_at: exampleTime,
  acknowledged_at: exampleTime,
  polls: 0,
  next_poll_at: exampleTime,
  recorded_by: null,
  recorded_reference: null,
  succeeded_at: null,
  created_at: exampleTime,
  updated_at: exampleTime,
  ended_at: null,
}

export const succeededRefund: Refund = {
  ...exampleRefund,
  state: 'succeeded',
  succeeded_at: exampleTime,
  ended_at: exampleTime,
}

const hashOf = (text: string) => hmac(Buffer.from(exampleSecret), text).toString('hex')

const key = { type: 'string', minLength: 1, description: 'Your merchant key. It determines the mode.' }
const refundId = {
  type: 'string',
  pattern: refundIdPattern,
  description:
    'Your own id of the refund, unique per merchant and mode: the same id is never refunded twice.',
  examples: [refund_id],
}

const properties: Record<string, Json> = {
  merchant_key: key,
  invoice_id: { type: 'string', minLength: 1, description: 'Your id of the paid payment.' },
  refund_id: refundId,
  amount: {
    type: 'string',
    pattern: total,
    allOf: [{ type: 'string', pattern: moreThanZero }],
    description:
      'What is refunded, as text in major units of the currency of the payment: all of it, or a part.',
    examples: [signedFields.amount],
  },
  reason: {
    type: 'string',
    pattern: plainText.replace(/\*\$$/, `{0,${maxRefundReasonLength}}$`),
    description: 'Why, for your own records and for your operator. The customer does not see it.',
    examples: [exampleRefund.reason],
  },
  secure_hash: {
    type: 'string',
    pattern: hexDigest,
    description:
      'HMAC-SHA-256, in hexadecimal, of `amount=...&invoice_id=...&merchant_key=...&refund_id=...` with the values as ' +
      'you send them. Always required, also with unsigned_requests.',
  },
}

const requestOf = (): Json => ({
  type: 'object',
  required: ['merchant_key', 'invoice_id', 'refund_id', 'amount', 'secure_hash'],
  properties,
})

const checkParameters = {
  type: 'object',
  required: ['merchant_key', 'secure_hash'],
  properties: {
    merchant_key: key,
    secure_hash: {
      type: 'string',
      pattern: hexDigest,
      description:
        'HMAC-SHA-256, in hexadecimal, of `merchant_key=...&refund_id=...` with the values as you send them. Always required.',
    },
  },
}

const wrongHash = refusals.wrongHash('does not match this request')
wrongHash.hint = {
  hashed_string: refundString(signedFields),
  likely_mistake: 'amount was hashed as 10 but sent as 10.00; hash exactly what you send',
  mistake: 'other_total',
  your_string: refundString({ ...signedFields, amount: '10' }),
}

const unsigned = refusals.wrongHash('is missing')
unsigned.hint = {
  hashed_string: refundCheckString(merchant_key, refund_id),
  likely_mistake: 'secure_hash was not sent',
}

const requested = {
  invoice_id,
  amount: 1000n,
  reason: exampleRefund.reason,
  currency: 'GHS',
  mode: 'test',
} as const

const refundRefusals = [
  refusals.missing('merchant_key'),
  refusals.missing('invoice_id'),
  refusals.malformed('amount', 'at most 2 decimals (got 5.001)'),
  refusals.unknownMerchant(),
  wrongHash,
  refusals.deactivated(),
  refundRefusal({ fault: 'not_allowed' }, requested),
  refusals.unknownInvoice(),
  refundRefusal({ fault: 'more_than_left', left: 500n }, requested),
  refundRefusal({ fault: 'not_paid' }, requested),
  refundRefusal({ fault: 'too_old', days: 365 }, requested),
  refundRefusal({ fault: 'below_minimum', minimum: 2000n }, requested),
  refundRefusal({ fault: 'only_whole', amount: 2500n }, requested),
  refundRefusal({ fault: 'over_daily_limit', left: 500n }, requested),
  refundRefusal({ fault: 'other_fields', stored: { ...exampleRefund, amount: 500n } }, requested),
  ...bodyRefusals,
  refusals.tooManyRequests(1),
  new refusals.Unavailable(undefined),
]

const checkRefusals = [
  refusals.missing('merchant_key'),
  refusals.malformed('secure_hash', 'is sent twice with two values'),
  refusals.unknownMerchant(),
  unsigned,
  refusals.unknownRefund(),
  refusals.tooManyRequests(1),
  new refusals.Unavailable(undefined),
]

const errorsAs200 = 'If errors_as_200 is on, errors have this status too.'
const example = { refund: refundBody({ refund: exampleRefund, warnings: [] }) }
const endedExample = { refund: refundBody({ refund: succeededRefund, warnings: [] }) }

export const refundPaths: Paths = {
  '/v1/refunds': {
    post: operation('Refunds', 'refundPayment', 'Refund a payment, or a part of it', {
      description:
        'Stores the refund, then asks the provider to return the money. The answer has the state that the refund has by ' +
        'then: `requested`, `pending` or `unknown` mean that it is on its way, and the gateway continues by itself. Only ' +
        '`succeeded` means that the money went back. The same refund_id with the same fields returns the same refund, so ' +
        'repeat the request after a timeout; it never refunds twice.',
      requestBody: bodyOf(requestOf(), requestOf(), {
        part: {
          ...signedFields,
          reason: exampleRefund.reason,
          secure_hash: hashOf(refundString(signedFields)),
        },
      }),
      rules: rulesOfRefunds,
      responses: {
        200: response(
          `The refund is stored, now or by an equal request before. ${errorsAs200}`,
          jsonContent(anyOf('RefundAnswer', 'ErrorBody'), example),
        ),
        ...errorResponses(refundRefusals),
      },
    }),
  },
  '/v1/refunds/{refund_id}': {
    get: operation('Refunds', 'readRefund', 'Check a refund', {
      description: 'The refund with your refund_id, as it is now.',
      parameters: [
        {
          name: 'refund_id',
          in: 'path',
          required: true,
          description: refundId.description,
          schema: { type: 'string', pattern: refundIdPattern },
          example: refund_id,
        },
        ...queryOf(checkParameters),
      ],
      rules: rulesOfRefundChecks,
      responses: {
        200: response(
          `The refund. ${errorsAs200}`,
          jsonContent(anyOf('RefundAnswer', 'ErrorBody'), endedExample),
        ),
        ...errorResponses(checkRefusals),
      },
    }),
  },
}
