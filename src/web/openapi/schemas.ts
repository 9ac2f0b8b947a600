import { z } from 'zod'
import type { Code } from '../../core/interface/refusal.ts'
import { requestSchema } from '../../core/interface/request.ts'
import { warningCodes } from '../../core/interface/warnings.ts'
import { currencies } from '../../core/money.ts'
import { moneyBackTypes } from '../../core/payment/change.ts'
import { refundSources, refundStates } from '../../core/refund/refund.ts'
import { asForm, type ObjectSchema, withOtherNames } from './requestSchema.ts'

// The schemas of all bodies. The document is generated from them, and a test validates real responses with them.

// Every error code. The type is the list of the refusals, so a new code without a description does not compile.
export const codeMeanings: Record<Code, string> = {
  'GW-001': 'merchant_key is missing or empty',
  'GW-002': 'invoice_id is missing or empty',
  'GW-003': 'total is missing or empty',
  'GW-005': 'another payment has this invoice_id (409), or no payment has it (404)',
  'GW-008': 'no merchant has this merchant_key',
  'GW-009': 'the merchant is deactivated',
  'GW-010': 'secure_hash, or the signature of the feed, is missing or does not match',
  'GW-012': 'a field or the body cannot be read or is not allowed',
  'GW-013': 'the body or the header is too large',
  'GW-014': 'the content type of the body is not supported',
  'GW-015': 'a live key at an address that has test mode only',
  'GW-020': 'more than is left of the payment',
  'GW-021': 'the payment is not paid',
  'GW-022': 'refunds are off for this merchant',
  'GW-023': 'the provider refunds no payment of this age',
  'GW-024': 'less than the provider refunds',
  'GW-025': 'the provider refunds only the whole amount',
  'GW-026': 'more than is left of the daily limit',
  'GW-027': 'another refund has this refund_id',
  'GW-028': 'no refund has this refund_id',
  'GW-050': 'the database is unavailable, or the gateway is too busy to read the body',
  'GW-060': 'too many requests',
}

// Errors outside the payment API have a name instead of a number.
export const codes = [...Object.keys(codeMeanings), 'internal', 'not_found', 'method_not_allowed', 'busy']

const text = (description: string) => z.string().describe(description)
const nullable = (description: string) => z.string().nullable().describe(description)
const afterAttempt = (description: string) => nullable(`${description} Null before the first attempt.`)
const cardOnly = (description: string) => nullable(`Card payments: ${description} Otherwise null.`)
const nullableNumber = (description: string) => z.number().nullable().describe(description)
const time = (description: string) => z.iso.datetime().describe(description)
const nullableTime = (description: string) => z.iso.datetime().nullable().describe(description)

const warnings = z
  .array(
    z.object({
      field: text('The name of the field, as you sent it.'),
      code: z
        .enum(warningCodes)
        .describe('What is wrong: see the table of warnings in the description of the interface.'),
      message: text('What is wrong and what to do, in a sentence.'),
    }),
  )
  .optional()
  .describe(
    'Only if there is something to say: fields that are ignored, and addresses that are never called. In test mode; in ' +
      'live mode only never_called.',
  )

const stored = {
  success: z.literal(true),
  status: z
    .literal('new')
    .describe('The request is stored. The status check returns the status of the payment.'),
  status_code: z.literal(0),
  message: text('A sentence for a person.'),
  invoice_id: text('Your invoice_id, as you sent it.'),
  tx_reference: text('Our reference: unique, sorts by time, safe to print.'),
  warnings,
}

const extra = z
  .object({
    channel: afterAttempt('The payment method of the latest attempt, as in payment_method.'),
    wallet_issuer_hint: nullable('The network named in a direct request.'),
    email: nullable('Customer email address.'),
    mobile_no: nullable('Customer phone number.'),
    Mobile_no: nullable('The same number, as older clients spell the key.'),
    name: nullable('Customer name.'),
    card_type: cardOnly('the brand of the card.'),
    psp_response_code: cardOnly('the response code of the card processor.'),
    psp_response_msg: cardOnly('what that code means.'),
  })
  .catchall(z.string())
  .describe('Further details, and your own extra_ fields without their prefix.')

const paymentStatus = z.enum(['awaiting_payment', 'paid', 'cancelled', 'failed'])

const refundFields = {
  refund_id: nullable('Your refund_id. Null if your operator requested the refund.'),
  refund_reference: text('Our reference of the refund.'),
  amount: z.number().describe('The amount of the refund, in major units of currency.'),
  currency: z.enum(currencies).describe('The currency of the payment.'),
  state: z
    .enum(refundStates)
    .describe(
      'requested, pending and unknown: on its way. needs_action: your operator has to do something. succeeded: the money ' +
        'went back. failed: it did not.',
    ),
  reason: text('As you sent it, or empty.'),
  source: z
    .enum(refundSources)
    .describe(
      'payment: part of the amount of the payment. surplus, fee: money beyond it, refunded by your operator.',
    ),
  requested_at: time('When it was requested.'),
  succeeded_at: nullableTime('When the money went back; null until then.'),
}

const refund = z.object({
  ...refundFields,
  invoice_id: text('Your invoice_id of the payment.'),
  tx_reference: text('Our reference of the payment.'),
  state_reason: text('Why, in a sentence; may be empty.'),
  kind: z
    .enum(['provider', 'manual'])
    .describe('manual: the provider has no refunds, so your operator returns the money by other means.'),
})

const statusRecord = z.object({
  success: z.literal(true).describe('The status check succeeded. It says nothing about the money.'),
  status: paymentStatus.describe('The status of the payment. Only paid means that money arrived.'),
  status_reason: text('Why, mainly for failed payments; otherwise empty.'),
  invoice_id: text('Your invoice_id.'),
  tx_reference: text('Our reference.'),
  gw_invoice_id: text('The same as tx_reference.'),
  payment_reference: afterAttempt("The provider's own reference."),
  amount: z.number().describe('The total as a number, in major units of currency.'),
  currency: z.enum(currencies).describe('The currency of every amount in this record.'),
  total_amount_charged: nullableNumber('The amount that the provider charged; null until paid.'),
  service_fee: nullableNumber('Null: fees are not known yet.'),
  payment_method: afterAttempt(
    'mtn_mobile_money, telecel_cash, airteltigo_money, card or ghqr: the method that paid, or the last one tried.',
  ),
  payment_instrument: nullable('The wallet or card of the latest attempt, masked.'),
  payment_time: nullableTime('When it was paid; null until then.'),
  reversed_at: nullableTime(
    'When the provider first returned money by itself, or a dispute was lost, or null. The status stays paid.',
  ),
  reversed_amount: nullableNumber('What the provider returned by itself so far, in major units, or null.'),
  refunded_amount: nullableNumber(
    'What you refunded of the amount so far, by refunds that succeeded. Null if no refund was ever requested.',
  ),
  refunds: z.array(z.object(refundFields)).describe('All refunds of the payment, the oldest first.'),
  as_at: time('The time of this response.'),
  last_updated: time('The time of the last change.'),
  narration: nullable('The description of the request.'),
  buyer_firstname: nullable('First word of the customer name.'),
  buyer_lastname: nullable('The rest of the customer name.'),
  buyer_email: nullable('Customer email address.'),
  buyer_phone: nullable('Customer phone number with its country code.'),
  tran_type: z.enum(['test', 'live']).describe('The mode of the key.'),
  outlet: nullable('Code of the outlet.'),
  client_ip: z.null().describe('Always null.'),
  client_ip_location: z.null().describe('Always null.'),
  extra,
})

const keyedRecord = statusRecord.extend({
  amount: text('The total as text with two decimals, even if the currency has none: 25.00, 5000.00.'),
})

// Some clients of this response ignore letter case, so the two spellings of mobile_no would be one key twice.
const extraWithoutCaseDuplicates = extra.omit({ Mobile_no: true }).meta({
  description:
    'As in the other responses, but no two names differ only by letter case: our name wins, and of yours the first.',
})

const event = z.object({
  cursor: text('Send this as after to continue behind this event.'),
  id: text('The webhook-id of its notification.'),
  sequence: z.int().min(1).describe('Counts the status changes of this payment.'),
  type: z.enum(['status', ...moneyBackTypes, ...refundStates.map(state => `refund.${state}` as const)]).meta({
    description:
      'A status change, which has a notification; a refund that you or your operator requested, which has one if ' +
      'ipn_refunds is on; or a reversal by the provider or a dispute, which is only in the feed.',
  }),
  status: paymentStatus.describe('The status of the payment at that time.'),
  created_at: time('When it happened.'),
  body: text('The bytes of the notification, as text: parse it as JSON.'),
})

const notification = z.object({
  invoice_id: text('Your invoice_id.'),
  tx_reference: text('Our reference.'),
  status: paymentStatus.describe('The new status. Check it before you act on it.'),
  amount: z.number().describe('The total, in major units of currency.'),
  status_reason: text('Why, mainly for failed payments; otherwise empty.'),
  payment_method: afterAttempt('The payment method of the latest attempt.'),
  payment_time: nullableTime('When it was paid; null until then.'),
  invoice: text('The same as invoice_id.'),
  currency: z.enum(currencies).describe('The currency of amount.'),
  extra,
})

const httpError = z.int().min(400).max(599)

const refusedRequest = z.object({
  request_id: text('The x-request-id of the response.'),
  time: time('When it was refused.'),
  method: text('GET or POST.'),
  path: text('The address without its query.'),
  http: httpError.describe('The HTTP status, without errors_as_200.'),
  code: text('The error code.'),
  field: nullable('The field with the error, if there is one.'),
  message: text('The sentence of the response.'),
  hint: z.record(z.string(), z.string()).nullable().describe('The texts of the hint, in test mode.'),
  fields: z
    .record(z.string(), z.string())
    .describe('The fields as you sent them: personal data masked, secrets removed, long values cut.'),
})

const errorBody = z.object({
  success: z.literal(false),
  status: z.literal('error'),
  status_code: httpError.describe(
    'The HTTP status of this response, or the one it has without errors_as_200.',
  ),
  message: text('What is wrong and what to do, in a sentence.'),
  error: z.object({
    code: z.enum(codes),
    message: text('The same sentence.'),
    field: z.string().optional().describe('The field with the error, if there is one.'),
    doc_url: z.url().describe('What this code means and what to do, on this gateway.'),
    hint: z
      .object({
        hashed_string: text('The string that we hashed: the one to hash.'),
        likely_mistake: text('The likely cause.'),
        mistake: z
          .string()
          .optional()
          .describe('The name of the mistake, if one gives exactly the hash that you sent.'),
        your_string: z.string().optional().describe('The string that you hashed by this mistake.'),
      })
      .optional()
      .describe('With GW-010, in test mode only.'),
    differences: z
      .array(
        z.object({
          field: text('A field that differs from the stored request.'),
          stored: z.string().nullable().optional().describe('Its stored value. Test mode only.'),
          sent: z.string().nullable().optional().describe('The value that you sent. Test mode only.'),
        }),
      )
      .optional()
      .describe(
        'With 409 GW-005 or GW-027, for a signed request. Personal values are masked; null means absent.',
      ),
    left: z
      .number()
      .optional()
      .describe('With GW-020 and GW-026: what may still be refunded, in major units.'),
  }),
  request_id: text('The same as the x-request-id header. Quote it when you ask for help.'),
  warnings,
})

const failedRecord = z.object({
  success: z.literal(false),
  status: z.literal('error'),
  status_reason: text('What is wrong.'),
  invoice_id: text('As you sent it.'),
  amount: z.literal(''),
})

// By their names in the document.
export const bodies = {
  PaymentRequest: requestSchema,
  PaymentStored: z.object({
    ...stored,
    tx_token: text('The last part of the checkout address.'),
    url: z.url().describe('The same address as checkout_url.'),
    checkout_url: z.url().describe('Redirect the customer to this address.'),
  }),
  DirectStored: z.object(stored),
  StatusRecord: statusRecord,
  KeyedRecord: keyedRecord,
  StatusAnswer: statusRecord
    .extend({ warnings })
    .catchall(keyedRecord)
    .describe('The first key is your invoice_id, with the keyed record. The same record follows, flat.'),
  KeyedAnswer: z
    .record(z.string(), keyedRecord.extend({ extra: extraWithoutCaseDuplicates }))
    .describe('One key, your invoice_id, with the record.'),
  EventsAnswer: z.object({
    success: z.literal(true),
    status: z.literal('ok'),
    events: z.array(event).describe('The oldest first.'),
    next: text('Send this as after in the next request. The same as after if there is no new event.'),
    more: z.boolean().describe('There are more events: send the next request now.'),
  }),
  RequestsAnswer: z.object({
    success: z.literal(true),
    status: z.literal('ok'),
    requests: z.array(refusedRequest).describe('The newest first.'),
    next: nullable('Send this as after to get older requests. Null if there are none.'),
  }),
  TriggerAnswer: z.object({
    success: z.literal(true),
    invoice_id: text('The invoice_id of the payment.'),
    tx_reference: text('Our reference.'),
    outcome: text('As you sent it.'),
    status: paymentStatus.describe('The status now. Notifications and the status check have what follows.'),
    checkout_url: z.url().describe('The page that the customer would see.'),
    message: text('What happens next, in a sentence.'),
  }),
  ClockAnswer: z.object({
    success: z.literal(true),
    advanced_seconds: z.int().min(1),
    moved: z
      .object({
        payments: z.int().min(0).describe('Payments that expire earlier.'),
        polls: z.int().min(0).describe('Attempts that are polled earlier.'),
        notifications: z.int().min(0).describe('Deliveries that are tried earlier.'),
        messages: z.int().min(0).describe('SMS and emails that are tried earlier.'),
      })
      .describe('How many rows of each kind were moved.'),
    in_flight: z
      .int()
      .min(0)
      .describe('Attempts that were not moved, because the provider was being called for them.'),
    more: z.boolean().describe('There are more payments: send the same request with after.'),
    next: z.string().optional().describe('Send this as after. Only if more is true.'),
    message: text('A sentence for a person.'),
  }),
  RefundAnswer: refund.extend({ success: z.literal(true), warnings }),
  Notification: notification,
  RefundNotification: refund.extend({
    type: z.literal('refund').describe('There is no status in this body.'),
  }),
  ErrorBody: errorBody,
  FailedRecord: failedRecord,
  FailedCheck: z
    .object({ ...failedRecord.shape, ...errorBody.shape })
    .catchall(failedRecord)
    .describe('Twice, like a success: with the invoice_id as its key if one was sent, and flat.'),
  FailedKeyedCheck: z.record(z.string(), failedRecord).describe('One key, the invoice_id that was sent.'),
}

export type SchemaName = keyof typeof bodies | 'PaymentForm'

export const refTo = (name: SchemaName) => ({ $ref: uriOf(name) })

export const anyOf = (...names: SchemaName[]) => ({ anyOf: names.map(refTo) })

const uriOf = (name: string) => `#/components/schemas/${name}`

// The schemas as JSON Schema. The input side of each is used, which allows further keys in a response.
function jsonSchemas(): Record<SchemaName, ObjectSchema> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(bodies)) registry.add(schema, { id })
  const generated = z.toJSONSchema(registry, {
    io: 'input',
    unrepresentable: 'any', // NumberText fields are described by their meta()
    uri: uriOf,
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern // the format is enough
      // Generators of clients make a field with a default a required one. The description says the default.
      delete jsonSchema.default
    },
  })
  const { schemas }: { schemas: Record<keyof typeof bodies, ObjectSchema> } = JSON.parse(
    JSON.stringify(generated),
  )
  for (const schema of Object.values(schemas)) {
    delete schema.$schema // OpenAPI 3.1 uses this dialect
    delete schema.$id // the key in the document is the name
  }
  const PaymentRequest = withOtherNames(schemas.PaymentRequest)
  return { ...schemas, PaymentRequest, PaymentForm: asForm(PaymentRequest) }
}

export const schemas = jsonSchemas()
