import { maxEvents } from '../../actions/interface/readEvents.ts'
import * as refusals from '../../core/interface/refusal.ts'
import { feedHeader, feedString, hmac } from '../../core/interface/signature.ts'
import { notificationBody } from '../../core/notification/notification.ts'
import { noOutcome, type Payment } from '../../core/payment/payment.ts'
import { eventsBody } from '../api/events.ts'
import { exampleKeys, examplePayment, exampleSecret, exampleTime } from './examples.ts'
import { errorResponses, jsonContent, operation, type Paths, queryOf, response } from './operation.ts'
import { rulesOfFeeds } from './rules.ts'
import { anyOf } from './schemas.ts'

const seconds = String(exampleTime.getTime() / 1000)
const signedString = feedString(seconds, exampleKeys.merchant_key, '', '')
const signatureExample = `t=${seconds},v1=${hmac(Buffer.from(exampleSecret), signedString).toString('hex')}`

const unsigned = refusals.wrongSignature(feedHeader, 'is missing')
unsigned.hint = { hashed_string: signedString, likely_mistake: `${feedHeader} was not sent` }

const feedRefusals = [
  refusals.missing('merchant_key'),
  refusals.malformed(
    'after',
    'must be a cursor from an earlier response, or empty to start with the oldest event',
  ),
  refusals.unknownMerchant(),
  unsigned,
  refusals.tooManyRequests(1),
  new refusals.Unavailable(undefined),
]

const paid: Payment = {
  ...examplePayment,
  ...noOutcome,
  status: 'paid',
  payment_method: 'mtn_mobile_money',
  payment_time: exampleTime,
}
const position = 1042n
const paidEvent = {
  tx_reference: paid.tx_reference,
  sequence: 1,
  type: 'status' as const,
  status: paid.status,
  created_at: exampleTime,
  position,
  body: notificationBody(paid, 'post'),
}
const eventsExample = eventsBody({ events: [paidEvent], next: position, more: false })

const parameters = {
  type: 'object',
  required: ['merchant_key'],
  properties: {
    merchant_key: {
      type: 'string',
      minLength: 1,
      description: 'Your merchant key. It determines the mode.',
    },
    after: {
      type: 'string',
      pattern: '^(0|[1-9][0-9]{0,17})?$',
      description:
        'The value of next in your last response. Empty or absent: the oldest event, 30 days back.',
    },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: maxEvents,
      description: 'The maximum number of events, by default 100.',
    },
  },
}

const signature = {
  name: feedHeader,
  in: 'header',
  required: true,
  description:
    '`t=<unix seconds>,v1=<hexadecimal>`: the time, and the HMAC-SHA-256 of `<t>.<merchant_key>.<after>.<limit>`, each ' +
    'as you send it, and empty if you do not send it. The time may differ from ours by 300 seconds. Always required.',
  schema: { type: 'string', pattern: '^t=[0-9]{1,15},v1=[0-9A-Fa-f]{64}$' },
  example: signatureExample,
}

export const eventPaths: Paths = {
  '/v1/events': {
    get: operation('Events', 'readEvents', 'Read the event feed', {
      description:
        'Every status change of your payments in the last 30 days, the oldest first, with the bytes of its ' +
        'notification. A client that follows next gets each event exactly once, also if the notification did ' +
        'not arrive or no ipn_url was set.',
      parameters: [...queryOf(parameters), signature],
      rules: rulesOfFeeds,
      responses: {
        200: response(
          'The events. If errors_as_200 is on, errors have this status too.',
          jsonContent(anyOf('EventsAnswer', 'ErrorBody'), { events: eventsExample }),
        ),
        ...errorResponses(feedRefusals),
      },
    }),
  },
}
