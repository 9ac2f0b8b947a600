import { hexDigest } from '../../core/interface/patterns.ts'
import * as examples from './examples.ts'
import { bodyOf, operation, type Paths, queryOf } from './operation.ts'
import { answerOf, broken, failures, json, jsonOf, type Responses, text } from './responses.ts'
import { rulesOfCheckForms, rulesOfChecks } from './rules.ts'
import { anyOf, refTo } from './schemas.ts'

const question = {
  type: 'object',
  required: ['merchant_key', 'invoice_id'],
  properties: {
    merchant_key: { type: 'string', minLength: 1, description: 'Your merchant key.' },
    invoice_id: { type: 'string', minLength: 1, description: 'The invoice_id of the payment.' },
    secure_hash: {
      type: 'string',
      pattern: `^$|${hexDigest}`,
      description:
        'HMAC-SHA-256 of `invoice_id=<invoice_id>&merchant_key=<merchant_key>`. Checked when sent; required where ' +
        'signed_status_checks is on. Without it the name, email and phone of the customer are masked, and your own extra_ ' +
        'fields have the value "" unless public_extra lists them.',
    },
  },
}

const form = { ...question, additionalProperties: { type: 'string' } }

const howItStands = 'How the payment stands. Where errors_as_200 is on, errors come with this status too.'

const twofold: Responses = {
  200: answerOf(
    howItStands,
    json(anyOf('StatusAnswer', 'FailedCheck', 'ErrorBody'), { twofold: examples.statusAnswer }),
  ),
  ...failures(examples.checkRefusals, jsonOf(anyOf('FailedCheck', 'ErrorBody'), examples.failedCheck)),
  ...broken,
}

const keyed: Responses = {
  200: answerOf(
    howItStands,
    json(anyOf('KeyedAnswer', 'FailedKeyedCheck', 'ErrorBody'), { keyed: examples.keyedAnswer }),
  ),
  ...failures(
    examples.checkRefusals,
    jsonOf(anyOf('FailedKeyedCheck', 'ErrorBody'), examples.failedKeyedCheck),
  ),
  ...broken,
}

const moment = '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$'
const rightLine = `^TG(-[0-9A-Z]{6}){3}~(awaiting_payment|paid|cancelled|failed)~${moment}`
const mark = '[A-Za-z0-9._/#:-]'
const failedLine = `^(${mark}([A-Za-z0-9._/#: -]{0,62}${mark})?)?~error~${moment}`
const failedText = () => text(examples.failedLine, failedLine)

const line: Responses = {
  200: answerOf(howItStands, text(examples.statusLine, `${rightLine}|${failedLine}`)),
  ...failures(examples.checkRefusals, failedText),
  ...broken,
}

const byForm = (operationId: string) =>
  operation('Status', operationId, 'Ask how a payment stands, by form', {
    description: 'Answers the keyed record alone. What the body lacks is read from the query.',
    requestBody: bodyOf(question, form, { question: examples.question }),
    rules: rulesOfCheckForms,
    responses: {
      ...keyed,
      ...failures(examples.bodyRefusals, jsonOf(refTo('ErrorBody'), examples.errorBody)),
    },
  })

const asLine = (operationId: string) => ({
  get: operation('Status', operationId, 'Ask how a payment stands, one line of text', {
    description:
      'Answers `<tx_reference>~<status>~<as_at>`, or `<invoice_id>~error~<now>`. An invoice_id that is not valid is left out: `~error~<now>`.',
    parameters: queryOf(question),
    rules: rulesOfChecks,
    responses: line,
  }),
  post: operation('Status', `${operationId}ByForm`, 'Ask how a payment stands, by form, one line of text', {
    description: 'Answers the same line. What the body lacks is read from the query.',
    requestBody: bodyOf(question, form, { question: examples.question }),
    rules: rulesOfCheckForms,
    responses: { ...line, ...failures(examples.bodyRefusals, failedText) },
  }),
})

export const statusPaths: Paths = {
  '/v1/gateway/json_status_chk': {
    get: operation('Status', 'checkStatus', 'Ask how a payment stands', {
      description: 'Ask this before you hand anything over. Only the status paid means that money arrived.',
      parameters: queryOf(question),
      rules: rulesOfChecks,
      responses: twofold,
    }),
    post: byForm('checkStatusByForm'),
  },
  '/gateway/json_status_chk': {
    get: operation('Status', 'checkStatusKeyed', 'Ask how a payment stands, keyed answer', {
      description: 'Answers the keyed record alone, as older clients read it.',
      parameters: queryOf(question),
      rules: rulesOfChecks,
      responses: keyed,
    }),
    post: byForm('checkStatusKeyedByForm'),
  },
  '/v1/gateway/status_chk': asLine('checkStatusLine'),
  '/gateway/status_chk': asLine('checkStatusLineOlder'),
}
