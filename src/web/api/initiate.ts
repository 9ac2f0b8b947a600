import { type Initiated, initiate } from '../../actions/interface/initiate.ts'
import { withoutLists } from '../../core/interface/request.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { type ApiAnswer, type Exchange, jsonType } from '../http/apiRequest.ts'
import { readFields } from '../http/body.ts'

export type ApiOptions = { runtime: Runtime; baseUrl(): string }

export const initiateRoute =
  ({ runtime, baseUrl }: ApiOptions) =>
  async ({ incoming, address }: Exchange): Promise<ApiAnswer> => {
    const { fields, as } = await readFields(incoming, { runtime, address })
    const sent = as === 'json' ? fields : withoutLists(fields)
    return initiatedAnswer(await initiate(runtime, sent, 'api', address), baseUrl())
  }

export const initiatedAnswer = (initiated: Initiated, baseUrl: string): ApiAnswer => ({
  http: 200,
  type: jsonType,
  body: JSON.stringify(initiatedBody(initiated, baseUrl)),
  merchant_id: initiated.stored.merchant_id,
})

export const checkoutUrl = (baseUrl: string, token: string) => `${baseUrl}/checkout/${token}`

export function initiatedBody({ stored, direct }: Initiated, baseUrl: string) {
  const { invoice_id, tx_reference, tx_token } = stored
  if (direct)
    return {
      success: true,
      status: 'new',
      status_code: 0,
      message: direct.offered // without a comma: an old client takes it apart there
        ? 'The payment is stored. The customer is asked to approve it on the phone.'
        : 'The payment is stored. No provider for this network is set up here: nobody was asked to pay.',
      invoice_id,
      tx_reference,
    }
  const url = checkoutUrl(baseUrl, tx_token)
  return {
    success: true,
    status: 'new',
    status_code: 0,
    message: 'The payment is stored. Send the customer to checkout_url.',
    invoice_id,
    tx_reference,
    tx_token,
    url,
    checkout_url: url,
  }
}
