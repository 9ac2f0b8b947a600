import type { Gate } from '../../actions/gate.ts'
import { type Initiated, initiate } from '../../actions/initiate.ts'
import { readFields } from '../body.ts'
import { addressOf, type Ctx } from '../context.ts'

export type ApiOptions = { gate: Gate; baseUrl(): string; trustedProxies: number }

export const initiateRoute = (options: ApiOptions) => async (c: Ctx) => {
  const { fields } = await readFields(c)
  const initiated = await initiate(options.gate, fields, 'api', addressOf(c, options.trustedProxies))
  c.set('merchantId', initiated.stored.merchant_id)
  return c.json(initiatedBody(initiated, options.baseUrl()))
}

export const checkoutUrl = (baseUrl: string, token: string) => `${baseUrl}/checkout/${token}`

export function initiatedBody({ stored, direct }: Initiated, baseUrl: string) {
  const { invoice_id, tx_reference, tx_token } = stored
  const isNew = { success: true, status: 'new', status_code: 0 }
  if (direct)
    return {
      ...isNew,
      message: 'The payment is stored. No mobile-money channel is set up here, so no prompt was sent.',
      invoice_id,
      tx_reference,
    }
  const url = checkoutUrl(baseUrl, tx_token)
  return {
    ...isNew,
    message: 'The payment is stored. Send the customer to checkout_url.',
    invoice_id,
    tx_reference,
    tx_token,
    url,
    checkout_url: url,
  }
}
