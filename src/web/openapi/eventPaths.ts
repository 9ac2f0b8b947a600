import { mostEvents } from '../../actions/readEvents.ts'
import { hexDigest } from '../../core/patterns.ts'
import * as examples from './examples.ts'
import { operation, type Paths, queryOf } from './operation.ts'
import { answerOf, broken, failures, json, jsonOf } from './responses.ts'
import { rulesOfFeeds } from './rules.ts'
import { anyOf, refTo } from './schemas.ts'

const question = {
  type: 'object',
  required: ['merchant_key', 'secure_hash'],
  properties: {
    merchant_key: { type: 'string', minLength: 1, description: 'Your merchant key. It decides the mode.' },
    after: {
      type: 'string',
      pattern: '^(0|[1-9][0-9]{0,17})?$',
      description: 'The next of your last answer. Empty, or left out: from the beginning, 30 days back.',
    },
    limit: {
      type: 'integer',
      minimum: 1,
      maximum: mostEvents,
      default: 100,
      description: 'At most so many events. Not part of the signed text.',
    },
    secure_hash: {
      type: 'string',
      pattern: hexDigest,
      description:
        'HMAC-SHA-256 of `after=<after>&merchant_key=<merchant_key>`; the name after stands there also when it is ' +
        'empty or was not sent. Always required.',
    },
  },
}

export const eventPaths: Paths = {
  '/v1/events': {
    get: operation('Events', 'readEvents', 'Read what happened', {
      description:
        'Every change of status of your payments in the last 30 days, the oldest first, with the bytes of its ' +
        'notification. Each event is told once to whoever follows next, and none is left out, also where no ' +
        'notification arrived or no ipn_url was set.',
      parameters: queryOf(question),
      rules: rulesOfFeeds,
      responses: {
        200: answerOf(
          'What happened. Where errors_as_200 is on, errors come with this status too.',
          json(anyOf('EventsAnswer', 'ErrorBody'), { events: examples.eventsAnswer }),
        ),
        ...failures(examples.feedRefusals, jsonOf(refTo('ErrorBody'), examples.errorBody)),
        ...broken,
      },
    }),
  },
}
