import { hexDigest } from '../../core/interface/patterns.ts'
import * as refusals from '../../core/interface/refusal.ts'
import {
  errorRecord,
  statusLine,
  statusRecord,
  withoutCaseDuplicates,
} from '../../core/interface/statusRecord.ts'
import { noOutcome } from '../../core/payment/payment.ts'
import { exampleError, exampleKeys, examplePayment, exampleTime } from './examples.ts'
import {
  bodyOf,
  errorResponses,
  internalError,
  jsonContent,
  jsonErrors,
  operation,
  type Paths,
  textContent,
  queryOf,
  response,
  type Responses,
} from './operation.ts'
import { bodyRefusals } from './paymentPaths.ts'
import { rulesOfCheckForms, rulesOfChecks } from './rules.ts'
import { anyOf, refTo } from './schemas.ts'

const { invoice_id } = exampleKeys
const unsignedView = { public_extra: [] } // the example request is not signed
const record = statusRecord({ ...examplePayment, ...noOutcome }, exampleTime, unsignedView)
const keyedRecord = { ...record, amount: '25.00' }
const keyedExample = { [invoice_id]: { ...keyedRecord, extra: withoutCaseDuplicates(record.extra) } }
const statusExample = { [invoice_id]: keyedRecord, ...record }
const lineExample = statusLine(examplePayment.tx_reference, examplePayment.status, exampleTime)
const errorLineExample = statusLine(invoice_id, 'error', exampleTime)

const checkRefusals = [
  refusals.missing('merchant_key'),
  refusals.missing('invoice_id'),
  refusals.malformed('invoice_id', 'is sent twice with two values'),
  refusals.wrongHash('is required for this merchant'),
  refusals.unknownInvoice(),
  refusals.tooManyRequests(1),
  new refusals.Unavailable(undefined),
]

// An unreadable request, or one without an invoice_id, gets the plain error.
function keyedError(refusal: refusals.Refusal) {
  const isPlain = refusal.code === 'GW-012' || refusal.code === 'GW-002'
  return isPlain ? exampleError(refusal) : { [invoice_id]: errorRecord(invoice_id, refusal.message) }
}

function statusError(refusal: refusals.Refusal) {
  const keyed = keyedError(refusal)
  if ('success' in keyed) return keyed
  return { ...keyed, ...errorRecord(invoice_id, refusal.message), ...exampleError(refusal) }
}

const parameters = {
  type: 'object',
  required: ['merchant_key', 'invoice_id'],
  properties: {
    merchant_key: { type: 'string', minLength: 1, description: 'Your merchant key.' },
    invoice_id: { type: 'string', minLength: 1, description: 'The invoice_id of the payment.' },
    secure_hash: {
      type: 'string',
      pattern: `^$|${hexDigest}`,
      description:
        'HMAC-SHA-256 of `invoice_id=<invoice_id>&merchant_key=<merchant_key>`. Verified if it is sent; required if ' +
        'signed_status_checks is on. Without it the name, email and phone of the customer are masked, and your own extra_ ' +
        'fields have the value "" unless public_extra lists them.',
    },
  },
}

const form = { ...parameters, additionalProperties: { type: 'string' } }

const currentStatus = 'The current status. If errors_as_200 is on, errors have this status too.'

const statusResponses: Responses = {
  200: response(
    currentStatus,
    jsonContent(anyOf('StatusAnswer', 'FailedCheck', 'ErrorBody'), { twofold: statusExample }),
  ),
  ...errorResponses(checkRefusals, jsonErrors(anyOf('FailedCheck', 'ErrorBody'), statusError)),
  ...internalError,
}

const keyedResponses: Responses = {
  200: response(
    currentStatus,
    jsonContent(anyOf('KeyedAnswer', 'FailedKeyedCheck', 'ErrorBody'), { keyed: keyedExample }),
  ),
  ...errorResponses(checkRefusals, jsonErrors(anyOf('FailedKeyedCheck', 'ErrorBody'), keyedError)),
  ...internalError,
}

const time = '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$'
const line = `^TG(-[0-9A-Z]{6}){3}~(awaiting_payment|paid|cancelled|failed)~${time}`
const mark = '[A-Za-z0-9._/#:-]'
const errorLine = `^(${mark}([A-Za-z0-9._/#: -]{0,62}${mark})?)?~error~${time}`
const errorText = () => textContent(errorLineExample, errorLine)

const lineResponses: Responses = {
  200: response(currentStatus, textContent(lineExample, `${line}|${errorLine}`)),
  ...errorResponses(checkRefusals, errorText),
  ...internalError,
}

const formOperation = (operationId: string) =>
  operation('Status', operationId, 'Check the status of a payment, by form', {
    description: 'Returns only the keyed record. Fields that the body lacks are read from the query.',
    requestBody: bodyOf(parameters, form, { question: exampleKeys }),
    rules: rulesOfCheckForms,
    responses: {
      ...keyedResponses,
      ...errorResponses(bodyRefusals, jsonErrors(refTo('ErrorBody'), exampleError)),
    },
  })

const linePaths = (operationId: string) => ({
  get: operation('Status', operationId, 'Check the status of a payment, as one line of text', {
    description:
      'Returns `<tx_reference>~<status>~<as_at>`, or `<invoice_id>~error~<now>`. An invalid invoice_id is left out: `~error~<now>`.',
    parameters: queryOf(parameters),
    rules: rulesOfChecks,
    responses: lineResponses,
  }),
  post: operation(
    'Status',
    `${operationId}ByForm`,
    'Check the status of a payment, by form, as one line of text',
    {
      description: 'Returns the same line. Fields that the body lacks are read from the query.',
      requestBody: bodyOf(parameters, form, { question: exampleKeys }),
      rules: rulesOfCheckForms,
      responses: { ...lineResponses, ...errorResponses(bodyRefusals, errorText) },
    },
  ),
})

export const statusPaths: Paths = {
  '/v1/gateway/json_status_chk': {
    get: operation('Status', 'checkStatus', 'Check the status of a payment', {
      description: 'Check this before you deliver anything. Only the status paid means that money arrived.',
      parameters: queryOf(parameters),
      rules: rulesOfChecks,
      responses: statusResponses,
    }),
    post: formOperation('checkStatusByForm'),
  },
  '/gateway/json_status_chk': {
    get: operation('Status', 'checkStatusKeyed', 'Check the status of a payment, keyed response', {
      description: 'Returns only the keyed record, as older clients read it.',
      parameters: queryOf(parameters),
      rules: rulesOfChecks,
      responses: keyedResponses,
    }),
    post: formOperation('checkStatusKeyedByForm'),
  },
  '/v1/gateway/status_chk': linePaths('checkStatusLine'),
  '/gateway/status_chk': linePaths('checkStatusLineOlder'),
}
