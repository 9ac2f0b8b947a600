import { send, sign } from './merchant.ts'
import { postJson, trigger } from './testTools.ts'

type Keys = { merchant_key: string; secret_key: string }

let refunds = 0
export const newRefundId = () => `R-${process.pid}-${++refunds}`

// A request for a refund, written from the documentation only.
export function signedRefund(keys: Keys, fields: Record<string, unknown> = {}) {
  const { merchant_key, secret_key } = keys
  const request: Record<string, unknown> = {
    merchant_key,
    refund_id: newRefundId(),
    amount: '10.00',
    ...fields,
  }
  const text = ['amount', 'invoice_id', 'merchant_key', 'refund_id']
    .map(name => `${name}=${String(request[name])}`)
    .join('&')
  return { secure_hash: sign(secret_key, text), ...request }
}

export const postRefund = (url: string, refund: unknown) => postJson(`${url}/v1/refunds`, refund)

export function askRefund(url: string, { merchant_key, secret_key }: Keys, refund_id: string) {
  const secure_hash = sign(secret_key, `merchant_key=${merchant_key}&refund_id=${refund_id}`)
  const query = new URLSearchParams({ merchant_key, secure_hash })
  return send(`${url}/v1/refunds/${refund_id}?${query.toString()}`)
}

let paid = 0

// A paid test payment. Its total has no special meaning in the sandbox, and neither have refunds of it.
export async function paidInvoice(url: string, keys: Keys, fields: Record<string, string> = {}) {
  const { invoice_id = `P-${process.pid}-${++paid}`, ...details } = fields
  const { body } = await trigger(url, keys, { outcome: 'paid', invoice_id, total: '25.00', ...details })
  for (let waited = 0; waited < 20_000; waited += 50) {
    const query = new URLSearchParams({ merchant_key: keys.merchant_key, invoice_id })
    const status = await send(`${url}/v1/gateway/json_status_chk?${query.toString()}`)
    if (status.body.status === 'paid')
      return {
        invoice_id,
        tx_reference: body.tx_reference as string,
        checkout_url: body.checkout_url as string,
      }
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(`${invoice_id} was not paid in time`)
}

// The refund when it has this state. In the sandbox, most amounts succeed after a moment.
export async function refundWhen(url: string, keys: Keys, refund_id: string, state = 'succeeded') {
  for (let waited = 0; waited < 20_000; waited += 50) {
    const { body } = await askRefund(url, keys, refund_id)
    if (body.state === state) return body
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(`the refund ${refund_id} was not ${state} in time`)
}
