import { checkStatus, type StatusFields } from '../../actions/interface/checkStatus.ts'
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

// GET returns the keyed record and the flat one. POST, and the path without /v1, return only the keyed one.
export const statusRoute =
  ({ runtime }: ApiOptions, keyedOnly: boolean) =>
  async (exchange: Exchange): Promise<ApiAnswer> => {
    const isKeyedOnly = keyedOnly || exchange.method === 'POST'
    let fields: StatusFields = {}
    try {
      fields = await readStatusFields(runtime, exchange)
      const { payment, refunds, view, warnings } = await checkStatus(runtime, fields, exchange.address)
      const record = statusRecord(payment, runtime.clock(), view, refunds)
      const body = isKeyedOnly ? keyedStatusJson(payment, record) : statusJson(payment, record, warnings)
      return { http: 200, type: jsonType, body, merchant_id: payment.merchant_id }
    } catch (error) {
      if (!isRefusal(error)) throw error
      if (typeof fields.invoice_id !== 'string' || fields.invoice_id === '')
        return refusalAnswer(error, exchange)
      const invoice_id = echoedInvoiceId(fields.invoice_id)
      const record = errorRecord(invoice_id, error.message)
      const flat = { ...record, ...refusalBody(error, exchange) }
      return refusedAs(error, jsonType, JSON.stringify({ [invoice_id]: record, ...(!isKeyedOnly && flat) }))
    }
  }

// The same as plain text: <tx_reference>~<status>~<as_at>
export const statusLineRoute =
  ({ runtime }: ApiOptions) =>
  async (exchange: Exchange): Promise<ApiAnswer> => {
    const now = runtime.clock()
    let fields: StatusFields = {}
    try {
      fields = await readStatusFields(runtime, exchange)
      const { payment } = await checkStatus(runtime, fields, exchange.address)
      const body = statusLine(payment.tx_reference, payment.status, now)
      return { http: 200, type: textType, body, merchant_id: payment.merchant_id }
    } catch (error) {
      if (!isRefusal(error)) throw error
      return refusedAs(error, textType, statusLine(echoedInvoiceId(fields.invoice_id), 'error', now))
    }
  }

// Fields that the body of a POST lacks are read from the query.
async function readStatusFields(runtime: ApiOptions['runtime'], exchange: Exchange): Promise<StatusFields> {
  const { method, query, incoming, address } = exchange
  const hasFields = method === 'POST' && hasBody(incoming)
  const inBody = hasFields ? (await readFields(incoming, { runtime, address })).fields : {}
  exchange.fields = { ...queryFields(query), ...presentFields(inBody) }
  return exchange.fields
}

// An error echoes only a valid invoice id. Any other text could inject a field into the status line or replace a key of
// the record. It becomes an empty field, so that the positions of the other fields do not change.
const echoedInvoiceId = (invoice_id: unknown) =>
  typeof invoice_id === 'string' && isInvoiceId(invoice_id) ? invoice_id : ''
