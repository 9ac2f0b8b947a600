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
  jsonContent,
  jsonErrors,
  operation,
  type Paths,
  queryOf,
  response,
  type Responses,
  textContent,
} from './operation.ts'
import { bodyRefusals } from './paymentPaths.ts'
import { rulesOfCheckForms, rulesOfChecks } from './rules.ts'
import { anyOf, type SchemaName } from './schemas.ts'

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

const requestBody = bodyOf(
  parameters,
  { ...parameters, additionalProperties: { type: 'string' } },
  { question: exampleKeys },
)

const currentStatus = 'The current status. If errors_as_200 is on, errors have this status too.'

const jsonResponses = (
  answer: SchemaName,
  failed: SchemaName,
  examples: Record<string, unknown>,
  bodyOfRefusal: (refusal: refusals.Refusal) => unknown,
): Responses => ({
  200: response(currentStatus, jsonContent(anyOf(answer, failed, 'ErrorBody'), examples)),
  ...errorResponses(checkRefusals, jsonErrors(anyOf(failed, 'ErrorBody'), bodyOfRefusal)),
})

const statusResponses = jsonResponses('StatusAnswer', 'FailedCheck', { twofold: statusExample }, statusError)
const keyedResponses = jsonResponses('KeyedAnswer', 'FailedKeyedCheck', { keyed: keyedExample }, keyedError)
const keyedFormResponses = { ...keyedResponses, ...errorResponses(bodyRefusals) }

const time = '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$'
const line = `^TG(-[0-9A-Z]{6}){3}~(awaiting_payment|paid|cancelled|failed)~${time}`
const mark = '[A-Za-z0-9._/#:-]'
const errorLine = `^(${mark}([A-Za-z0-9._/#: -]{0,62}${mark})?)?~error~${time}`
const errorText = () => textContent(errorLineExample, errorLine)

const lineResponses: Responses = {
  200: response(currentStatus, textContent(lineExample, `${line}|${errorLine}`)),
  ...errorResponses(checkRefusals, errorText),
}
const lineFormResponses = { ...lineResponses, ...errorResponses(bodyRefusals, errorText) }

const byQuery = (id: string, as: string, description: string, responses: Responses) =>
  operation('Status', id, `Check the status of a payment${as}`, {
    description,
    parameters: queryOf(parameters),
    rules: rulesOfChecks,
    responses,
  })

const byForm = (id: string, as: string, description: string, responses: Responses) =>
  operation('Status', `${id}ByForm`, `Check the status of a payment, by form${as}`, {
    description: `${description} Fields that the body lacks are read from the query.`,
    requestBody,
    rules: rulesOfCheckForms,
    responses,
  })

const keyedForm = (id: string) => byForm(id, '', 'Returns only the keyed record.', keyedFormResponses)

const asLine = ', as one line of text'
const lineFormat =
  'Returns `<tx_reference>~<status>~<as_at>`, or `<invoice_id>~error~<now>`. An invalid invoice_id is left out: `~error~<now>`.'

const linePaths = (id: string) => ({
  get: byQuery(id, asLine, lineFormat, lineResponses),
  post: byForm(id, asLine, 'Returns the same line.', lineFormResponses),
})

const beforeDelivery =
  'Check this before you deliver anything. Only the status paid means that money arrived.'
const keyedFormat = 'Returns only the keyed record, as older clients read it.'

export const statusPaths: Paths = {
  '/v1/gateway/json_status_chk': {
    get: byQuery('checkStatus', '', beforeDelivery, statusResponses),
    post: keyedForm('checkStatus'),
  },
  '/gateway/json_status_chk': {
    get: byQuery('checkStatusKeyed', ', keyed response', keyedFormat, keyedResponses),
    post: keyedForm('checkStatusKeyed'),
  },
  '/v1/gateway/status_chk': linePaths('checkStatusLine'),
  '/gateway/status_chk': linePaths('checkStatusLineOlder'),
}
