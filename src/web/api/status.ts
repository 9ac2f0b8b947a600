import { checkStatus, type StatusQuestion } from '../../actions/interface/checkStatus.ts'
import { isInvoiceId, presentFields } from '../../core/interface/request.ts'
import {
  errorRecord,
  statusJson,
  keyedStatusJson,
  statusLine,
  statusRecord,
} from '../../core/interface/statusRecord.ts'
import { type ApiAnswer, type Exchange, jsonType, textType } from '../http/apiRequest.ts'
import { hasBody, queryFields, readFields } from '../http/body.ts'
import { refusalBody, isRefusal, refusalAnswer, refusedAs } from '../http/errors.ts'
import type { ApiOptions } from './initiate.tsx'

// GET answers the keyed record and the flat one at once; POST, and the path without /v1, the keyed alone.
export const statusRoute =
  ({ runtime }: ApiOptions, keyedOnly: boolean) =>
  async (exchange: Exchange): Promise<ApiAnswer> => {
    const alone = keyedOnly || exchange.method === 'POST'
    let question: StatusQuestion = {}
    try {
      question = await readQuestion(runtime, exchange)
      const { payment, view } = await checkStatus(runtime, question, exchange.address)
      const record = statusRecord(payment, runtime.clock(), view)
      const body = alone ? keyedStatusJson(payment, record) : statusJson(payment, record)
      return { http: 200, type: jsonType, body, merchant_id: payment.merchant_id }
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (asText(question.invoice_id) === '') return refusalAnswer(error, exchange.requestId)
      const invoice_id = repeatable(question.invoice_id)
      const record = errorRecord(invoice_id, error.message)
      const flat = { ...record, ...refusalBody(error, exchange.requestId) }
      return refusedAs(error, jsonType, JSON.stringify({ [invoice_id]: record, ...(!alone && flat) }))
    }
  }

// The plain-text twin: <tx_reference>~<status>~<as_at>
export const statusLineRoute =
  ({ runtime }: ApiOptions) =>
  async (exchange: Exchange): Promise<ApiAnswer> => {
    const now = runtime.clock()
    let question: StatusQuestion = {}
    try {
      question = await readQuestion(runtime, exchange)
      const { payment } = await checkStatus(runtime, question, exchange.address)
      const body = statusLine(payment.tx_reference, payment.status, now)
      return { http: 200, type: textType, body, merchant_id: payment.merchant_id }
    } catch (error) {
      if (!isRefusal(error)) throw error
      return refusedAs(error, textType, statusLine(repeatable(question.invoice_id), 'error', now))
    }
  }

// What the body of a POST lacks is read from the query.
async function readQuestion(
  runtime: ApiOptions['runtime'],
  { method, query, incoming, address }: Exchange,
): Promise<StatusQuestion> {
  const isSent = method === 'POST' && hasBody(incoming)
  const sent = isSent ? (await readFields(incoming, { runtime, address })).fields : {}
  const asked: StatusQuestion = query === '' ? {} : queryFields(query)
  return method === 'POST' ? { ...asked, ...presentFields(sent) } : asked
}

const asText = (value: unknown) => (typeof value === 'string' ? value : '')

// An error repeats a valid invoice id only. Any other text could end a field of the status line and write the next one,
// or stand in the place of a key of the record. It becomes an empty field, so that the other fields keep their positions.
const repeatable = (invoice_id: unknown) =>
  typeof invoice_id === 'string' && isInvoiceId(invoice_id) ? invoice_id : ''
