import { maxMovedPayments } from '../../actions/testing/clock.ts'
import { hexDigest } from '../../core/interface/patterns.ts'
import * as refusals from '../../core/interface/refusal.ts'
import { hmac } from '../../core/interface/signature.ts'
import { signedString } from '../../core/interface/signedFields.ts'
import { advancePattern, maxAdvance } from '../../core/testing/advance.ts'
import { triggerOutcomes } from '../../core/testing/trigger.ts'
import { clockBody, triggerBody } from '../api/testing.ts'
import { examplePayment, exampleSecret, exampleTime } from './examples.ts'
import { bodyOf, errorResponses, jsonContent, operation, type Paths, response } from './operation.ts'
import { bodyRefusals } from './paymentPaths.ts'
import type { Json, ObjectSchema } from './requestSchema.ts'
import { rulesOfClocks, rulesOfTriggers } from './rules.ts'
import { anyOf, schemas } from './schemas.ts'

const merchant_key = 'tk_4k2m8w1x9c0v2n57h3q8r2d6'
const time = String(exampleTime.getTime() / 1000)

function signed(fields: Record<string, string>) {
  const whole: Record<string, string> = { merchant_key, ...fields, time }
  const secure_hash = hmac(Buffer.from(exampleSecret), signedString(whole)).toString('hex')
  return { ...whole, secure_hash }
}

const signedFields = {
  merchant_key: { type: 'string', minLength: 1, description: 'Your test key.' },
  time: {
    type: ['string', 'integer'],
    pattern: '^[0-9]{1,15}$',
    minimum: 0,
    maximum: 999_999_999_999_999,
    description: 'The time of the request in unix seconds, at most 300 away from our clock.',
  },
  secure_hash: {
    type: 'string',
    pattern: hexDigest,
    description:
      'HMAC-SHA-256, in hexadecimal, of all other fields as `name=value`, sorted by name and joined by `&`, with the ' +
      'values as you send them. Always required.',
  },
}

const closedObject = (properties: Record<string, Json>, required: readonly string[]): Json => ({
  type: 'object',
  required,
  properties,
  additionalProperties: false,
})

// All fields of a form are text.
const formOf = (properties: Record<string, Json>, required: readonly string[]): Json =>
  closedObject(
    Object.fromEntries(
      Object.entries(properties).map(([name, { minimum: _least, maximum: _most, ...field }]) => [
        name,
        { ...field, type: 'string' },
      ]),
    ),
    required,
  )

// In a payment request invoice_id and total are required; here they are optional, and empty and null count as absent.
const orAbsent = ({ description, ...field }: Json): Json => ({
  anyOf: [field, { enum: ['', null] }],
  description,
})

const detailsOf = ({ properties }: ObjectSchema): Record<string, Json> => {
  const { invoice_id = {}, total = {}, currency = {}, ipn_url = {}, email = {}, number = {} } = properties
  const id = 'Of the payment to use, or of the new one. By default a new id is made.'
  return {
    invoice_id: orAbsent({ ...invoice_id, description: id }),
    total: orAbsent(total),
    currency,
    ipn_url,
    email,
    number,
  }
}

const triggerFields: Record<string, Json> = {
  ...signedFields,
  outcome: {
    type: 'string',
    enum: Object.keys(triggerOutcomes),
    description: Object.entries(triggerOutcomes)
      .map(([name, text]) => `\`${name}\`: ${text}`)
      .join(' '),
  },
}
const triggerRequired = ['merchant_key', 'outcome', 'time', 'secure_hash']

const clockFields: Record<string, Json> = {
  ...signedFields,
  advance: {
    type: 'string',
    pattern: advancePattern,
    description: `How far: 90s, 15m, 24h or 3d, at most ${maxAdvance}.`,
    examples: ['24h'],
  },
  after: {
    type: ['string', 'null'],
    maxLength: 64,
    pattern: '^[A-Za-z0-9\\-_./#: ]*$',
    description:
      'The next of an answer with more: true. The same advance then moves the payments that are left.',
  },
}
const clockRequired = ['merchant_key', 'advance', 'time', 'secure_hash']

const example = { ...examplePayment, invoice_id: 'TEST-9k2m8w1x9c0v', outcome: 'paid' as const }
const moved = { payments: 1, polls: 1, notifications: 2, messages: 0 }

const wrongHash = refusals.wrongHash('does not match this request')
wrongHash.hint = {
  hashed_string: signedString({ merchant_key, time, advance: '24h' }),
  likely_mistake: 'time is missing in the text that was hashed',
  mistake: 'fewer_fields',
}

const testRefusals = [
  refusals.missing('merchant_key'),
  refusals.malformed('time', 'is missing or empty'),
  refusals.unknownMerchant(),
  wrongHash,
  refusals.deactivated(),
  refusals.testKeyOnly(),
  ...bodyRefusals,
  refusals.tooManyRequests(1),
  new refusals.Unavailable(undefined),
]

const errorsAs200 = 'If errors_as_200 is on, errors have this status too.'

// The tools of developers, in test mode only.
export const testPaths = (baseUrl: string): Paths => ({
  '/v1/test/triggers': {
    post: operation('Tests', 'triggerOutcome', 'Make a test payment end in a chosen way', {
      description:
        'Requests a test payment, or takes the one with this invoice_id, and pays it at the simulated provider so that ' +
        'it ends in the chosen way. Everything that follows is real: callbacks, status, notifications, messages. ' +
        'The same trigger again changes nothing. Only with a test key.',
      requestBody: bodyOf(
        closedObject({ ...triggerFields, ...detailsOf(schemas.PaymentRequest) }, triggerRequired),
        formOf({ ...triggerFields, ...detailsOf(schemas.PaymentForm) }, triggerRequired),
        { paid: signed({ outcome: 'paid' }) },
      ),
      rules: rulesOfTriggers,
      responses: {
        200: response(
          `The steps are on their way. ${errorsAs200}`,
          jsonContent(anyOf('TriggerAnswer', 'ErrorBody'), {
            paid: triggerBody({ ...example, message: triggerOutcomes.paid }, baseUrl),
          }),
        ),
        ...errorResponses([...testRefusals, refusals.conflict()]),
      },
    }),
  },
  '/v1/test/clock': {
    post: operation('Tests', 'advanceClock', 'Advance the time of your test payments', {
      description:
        'What is due within this time is due now: payments expire, attempts are polled, notifications and messages are ' +
        `tried again or given up. At most ${maxMovedPayments.toLocaleString('en')} payments are moved at once; then ` +
        'more is true. Only with a test key, and only test payments.',
      requestBody: bodyOf(closedObject(clockFields, clockRequired), formOf(clockFields, clockRequired), {
        day: signed({ advance: '24h' }),
      }),
      rules: rulesOfClocks,
      responses: {
        200: response(
          `The times are moved. ${errorsAs200}`,
          jsonContent(anyOf('ClockAnswer', 'ErrorBody'), {
            day: clockBody({ seconds: 86_400, moved, in_flight: 0, next: undefined }),
          }),
        ),
        ...errorResponses(testRefusals),
      },
    }),
  },
})
