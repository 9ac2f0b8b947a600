import { createHmac } from 'node:crypto'
import { isOnOrigins } from '../merchant/settings.ts'
import type { UntrustedUrl } from '../urlTrust.ts'
import type { Delivery } from './delivery.ts'
import { notificationId } from './notification.ts'

// The signing keys and credentials of a merchant in one mode. The password is for style basic and these origins only.
export type Signer = {
  keys: readonly Buffer[]
  merchant_key: string
  password?: string
  passwordOrigins: readonly string[]
}

// A delivery to another origin is sent without the password. It was stored before the merchant chose style basic or
// changed its origins. The notification itself must not be lost, and the endpoint may accept it.
export const needsPassword = (
  { style, url }: Pick<Delivery, 'style' | 'url'>,
  { passwordOrigins }: Pick<Signer, 'passwordOrigins'>,
) => style === 'basic' && isOnOrigins(url, passwordOrigins)

// The signing key of a secret: the bytes behind its prefix.
export const signingKey = (secret: string) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64')

type IpnRequest = {
  method: 'POST' | 'GET'
  url: UntrustedUrl
  headers: Record<string, string>
  body?: string
}
type Sending = Pick<Delivery, 'merchant_id' | 'tx_reference' | 'sequence' | 'url' | 'style' | 'tries'> & {
  body: string
}

// One try of a delivery as an HTTP request. Headers follow the Standard Webhooks convention: a signature for every
// live secret, over the bytes that are sent.
export function ipnRequest(delivery: Sending, signer: Signer, now: Date): IpnRequest {
  const { keys, merchant_key, password } = signer
  const { style, url, sequence, tries } = delivery
  const body = style === 'get' ? '' : delivery.body
  const id = notificationId(delivery)
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const headers: Record<string, string> = {
    'user-agent': 'Tollgate',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures(keys, `${id}.${timestamp}.${body}`),
    'webhook-attempt': String(tries),
    'webhook-sequence': String(sequence),
  }
  if (style === 'get') return { method: 'GET', url: withInvoice(url, delivery.body), headers }
  headers['content-type'] = 'application/json'
  if (password !== undefined && needsPassword(delivery, signer))
    headers.authorization = `Basic ${Buffer.from(`${merchant_key}:${password}`).toString('base64')}`
  return { method: 'POST', url, headers, body }
}

const signatures = (keys: readonly Buffer[], text: string) =>
  keys.map(key => `v1,${createHmac('sha256', key).update(text).digest('base64')}`).join(' ')

// The invoice is appended to the merchant's own query, which stays unchanged.
function withInvoice(text: UntrustedUrl, body: string): UntrustedUrl {
  const url = new URL(text)
  const { invoice_id } = JSON.parse(body) as { invoice_id: string }
  url.search = `${url.search ? `${url.search}&` : '?'}invoice_id=${encodeURIComponent(invoice_id)}`
  return url.href
}
