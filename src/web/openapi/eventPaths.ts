import { mostEvents } from '../../actions/interface/readEvents.ts'
import { feedHeader } from '../../core/interface/feedSignature.ts'
import * as examples from './examples.ts'
import { operation, type Paths, queryOf } from './operation.ts'
import { answerOf, broken, failures, json, jsonOf } from './responses.ts'
import { rulesOfFeeds } from './rules.ts'
import { anyOf, refTo } from './schemas.ts'

const question = {
  type: 'object',
  required: ['merchant_key'],
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
      description: 'At most so many events.',
    },
  },
}

const signature = {
  name: feedHeader,
  in: 'header',
  required: true,
  description:
    '`t=<unix seconds>,v1=<hexadecimal>`: the time, and the HMAC-SHA-256 of `<t>.<merchant_key>.<after>.<limit>`, each ' +
    'as you send it and empty where you do not. The time may be 300 seconds off ours. Always required.',
  schema: { type: 'string', pattern: '^t=[0-9]{1,15},v1=[0-9A-Fa-f]{64}$' },
  example: examples.feedSignature,
}

export const eventPaths: Paths = {
  '/v1/events': {
    get: operation('Events', 'readEvents', 'Read what happened', {
      description:
        'Every change of status of your payments in the last 30 days, the oldest first, with the bytes of its ' +
        'notification. Each event is told once to whoever follows next, and none is left out, also where no ' +
        'notification arrived or no ipn_url was set.',
      parameters: [...queryOf(question), signature],
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
