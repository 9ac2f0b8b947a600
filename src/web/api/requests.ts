import { readRequests, type RequestPage } from '../../actions/requests/readRequests.ts'
import { requestRecord } from '../../core/interface/refusedRequest.ts'
import { type ApiAnswer, type Exchange, jsonType } from '../http/apiRequest.ts'
import { queryFields } from '../http/body.ts'
import type { ApiOptions } from './initiate.tsx'

// The merchant's own refused requests.
export const requestsRoute =
  ({ runtime }: ApiOptions) =>
  async (exchange: Exchange): Promise<ApiAnswer> => {
    exchange.fields = queryFields(exchange.query)
    const { merchant_id, ...page } = await readRequests(runtime, exchange.fields, exchange.address)
    return { http: 200, type: jsonType, body: JSON.stringify(requestsBody(page)), merchant_id }
  }

export const requestsBody = ({ requests, next }: Omit<RequestPage, 'merchant_id'>) => ({
  success: true,
  status: 'ok',
  requests: requests.map(requestRecord),
  next: next ?? null,
})
