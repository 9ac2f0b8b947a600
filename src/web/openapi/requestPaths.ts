import { maxRequests } from '../../actions/requests/readRequests.ts'
import * as refusals from '../../core/interface/refusal.ts'
import { refusedRequest } from '../../core/interface/refusedRequest.ts'
import { graceSeconds, hmac } from '../../core/interface/signature.ts'
import { signedString } from '../../core/interface/signedFields.ts'
import { requestsBody } from '../api/requests.ts'
import {
  exampleKeys,
  exampleRequestId,
  exampleRequestString,
  exampleSecret,
  exampleTime,
} from './examples.ts'
import { errorResponses, jsonContent, operation, type Paths, queryOf, response } from './operation.ts'
import { rulesOfRequests } from './rules.ts'
import { anyOf } from './schemas.ts'

const { merchant_key, invoice_id } = exampleKeys
const time = String(exampleTime.getTime() / 1000)
const signed = signedString({ merchant_key, time })
const exampleSignature = hmac(Buffer.from(exampleSecret), signed).toString('hex')

const wrongHash = refusals.wrongHash('does not match this request')
wrongHash.hint = {
  hashed_string: exampleRequestString,
  likely_mistake: 'the names are not in alphabetical order: invoice_id, merchant_key, total',
}

const requestsExample = requestsBody({
  requests: [
    refusedRequest(
      {
        requestId: exampleRequestId,
        method: 'POST',
        path: '/v1/mobile_agents_v2',
        refusal: wrongHash,
        fields: {
          merchant_key,
          invoice_id,
          total: '25.00',
          number: '0244123456',
          secure_hash: exampleSignature,
        },
      },
      { merchant_id: '4k2m8w1x9c', mode: 'test' },
      exampleTime,
    ),
  ],
  next: undefined,
})

const unsigned = refusals.wrongHash('is missing')
unsigned.hint = { hashed_string: signed, likely_mistake: 'secure_hash was not sent' }

const requestRefusals = [
  refusals.missing('merchant_key'),
  refusals.malformed('after', 'must be the value of next in an earlier response, or empty'),
  refusals.unknownMerchant(),
  unsigned,
  refusals.tooManyRequests(1),
  new refusals.Unavailable(undefined),
]

const parameters = {
  type: 'object',
  required: ['merchant_key', 'time', 'secure_hash'],
  properties: {
    merchant_key: {
      type: 'string',
      minLength: 1,
      description: 'Your merchant key. It determines the mode.',
    },
    time: {
      type: 'integer',
      minimum: 0,
      maximum: 999_999_999_999_999,
      description: `Unix seconds. It may differ from our clock by ${graceSeconds} seconds.`,
      examples: [Number(time)],
    },
    after: {
      type: 'string',
      pattern: '^(req_[0-9a-z]{16})?$',
      description:
        'The value of next in your last response, for older requests. Empty or absent: the newest.',
    },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: maxRequests,
      description: 'The maximum number of requests. If it is absent, 20.',
    },
    secure_hash: {
      type: 'string',
      pattern: '^[0-9A-Fa-f]{64}$',
      description:
        'The HMAC-SHA-256 of all other parameters as you send them, sorted by name: ' +
        '`merchant_key=...&time=...`. Always required.',
      examples: [exampleSignature],
    },
  },
}

export const requestPaths: Paths = {
  '/v1/requests': {
    get: operation('Requests', 'readRequests', 'Read your refused requests', {
      description:
        'Your requests that were refused in the last 30 days, in the mode of the key, newest first, with the reason of ' +
        'each. Accepted requests are payments, and not in the list. Of each error code, the first 200 of a day (UTC) are ' +
        'stored. A request is in the list within two seconds. Personal data in fields is masked, secrets are removed, and ' +
        'a hash is shortened to its beginning.',
      parameters: queryOf(parameters),
      rules: rulesOfRequests,
      responses: {
        200: response(
          'The requests. If errors_as_200 is on, errors have this status too.',
          jsonContent(anyOf('RequestsAnswer', 'ErrorBody'), { requests: requestsExample }),
        ),
        ...errorResponses(requestRefusals),
      },
    }),
  },
}
