import * as examples from './examples.ts'
import { bodyOf, operation, type Paths, queryOf } from './operation.ts'
import { answerOf, broken, failures, json, jsonOf, type Responses, text } from './responses.ts'
import { anyOf, refTo } from './schemas.ts'

const question = {
  type: 'object',
  required: ['merchant_key', 'invoice_id'],
  properties: {
    merchant_key: { type: 'string', description: 'Your merchant key.' },
    invoice_id: { type: 'string', description: 'The invoice_id of the payment.' },
    secure_hash: {
      type: 'string',
      description:
        'HMAC-SHA-256 of `invoice_id=<invoice_id>&merchant_key=<merchant_key>`. Checked when sent; required where ' +
        "signed_status_checks is on. Without it the customer's name, email and phone are masked.",
    },
  },
}

const twofold: Responses = {
  200: answerOf('How the payment stands.', json(refTo('StatusAnswer'), { twofold: examples.statusAnswer })),
  ...failures(examples.checkRefusals, jsonOf(anyOf('FailedCheck', 'ErrorBody'), examples.failedCheck)),
  ...broken,
}

const keyed: Responses = {
  200: answerOf('How the payment stands.', json(refTo('KeyedAnswer'), { keyed: examples.keyedAnswer })),
  ...failures(
    examples.checkRefusals,
    jsonOf(anyOf('FailedKeyedCheck', 'FailedCheck', 'ErrorBody'), examples.failedKeyedCheck),
  ),
  ...broken,
}

const line: Responses = {
  200: answerOf('How the payment stands.', text(examples.statusLine)),
  ...failures(examples.checkRefusals, () => text(examples.failedLine)),
  ...broken,
}

const byForm = (operationId: string) =>
  operation('Status', operationId, 'Ask how a payment stands, by form', {
    description: 'Answers the keyed record alone.',
    requestBody: bodyOf(question, { question: examples.question }),
    responses: {
      ...keyed,
      ...failures(examples.bodyRefusals, jsonOf(refTo('ErrorBody'), examples.errorBody)),
    },
  })

export const statusPaths: Paths = {
  '/v1/gateway/json_status_chk': {
    get: operation('Status', 'checkStatus', 'Ask how a payment stands', {
      description: 'Ask this before you hand anything over. Only the status paid means that money arrived.',
      parameters: queryOf(question),
      responses: twofold,
    }),
    post: byForm('checkStatusByForm'),
  },
  '/gateway/json_status_chk': {
    get: operation('Status', 'checkStatusKeyed', 'Ask how a payment stands, keyed answer', {
      description: 'Answers the keyed record alone, as older clients read it.',
      parameters: queryOf(question),
      responses: keyed,
    }),
    post: byForm('checkStatusKeyedByForm'),
  },
  '/v1/gateway/status_chk': {
    get: operation('Status', 'checkStatusLine', 'Ask how a payment stands, one line of text', {
      description: 'Answers `<tx_reference>~<status>~<as_at>`, or `<invoice_id>~error~<now>`.',
      parameters: queryOf(question),
      responses: line,
    }),
  },
}
