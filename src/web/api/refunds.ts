import { checkRefundOf, type RefundAnswer, requestRefund } from '../../actions/interface/requestRefund.ts'
import { refundRecord } from '../../core/interface/refundRequest.ts'
import { type ApiAnswer, type Exchange, jsonType } from '../http/apiRequest.ts'
import { queryFields, readFields } from '../http/body.ts'
import type { ApiOptions } from './initiate.tsx'

// Refunds a payment, or returns the refund that an equal request created.
export const refundRoute =
  ({ runtime }: ApiOptions) =>
  async (exchange: Exchange): Promise<ApiAnswer> => {
    const { incoming, address } = exchange
    const { fields } = await readFields(incoming, { runtime, address })
    exchange.fields = fields
    return refundAnswer(await requestRefund(runtime, fields, address))
  }

// The refund with the refund_id at the end of the address.
export const refundCheckRoute =
  ({ runtime }: ApiOptions) =>
  async (exchange: Exchange): Promise<ApiAnswer> => {
    const { query, address, lastPart } = exchange
    exchange.fields = { ...queryFields(query), refund_id: lastPart }
    return refundAnswer(await checkRefundOf(runtime, exchange.fields, address))
  }

// The status is 200 for a new refund and for a repeated request: both have the same answer, and only `state` says what
// became of the refund.
const refundAnswer = (answer: RefundAnswer): ApiAnswer => ({
  http: 200,
  type: jsonType,
  body: JSON.stringify(refundBody(answer)),
  merchant_id: answer.refund.merchant_id,
})

export const refundBody = ({ refund, warnings }: RefundAnswer) => ({
  success: true,
  ...refundRecord(refund),
  ...(warnings.length > 0 && { warnings }),
})
