import { createHmac, timingSafeEqual } from 'node:crypto'
import type { WebhookUpdate, Webhook } from '../../core/provider/webhook.ts'
import type { JsonAnswer } from '../http/providerHttp.ts'

const maxKey = 100

// Who has the secret key has signed the very bytes. Nothing in it tells when, so an old one may come again: it makes us
// ask, and says nothing that counts. Where it came from is not looked at: behind a proxy every
// address is the proxy's.
export function readPaystackWebhook(
  { headers, body }: Webhook,
  secretKey: string,
): readonly WebhookUpdate[] | undefined {
  if (!isSigned(body, headers['x-paystack-signature'], secretKey)) return undefined
  const { event, data } = read(body)
  return typeof event === 'string' ? newsOf(event, objectOf(data)) : []
}

function isSigned(body: Buffer, signature: string | undefined, secretKey: string): boolean {
  if (signature === undefined || !/^[0-9a-f]{128}$/.test(signature)) return false
  const ours = createHmac('sha512', secretKey).update(body).digest()
  return timingSafeEqual(ours, Buffer.from(signature, 'hex'))
}

function read(body: Buffer): JsonAnswer {
  try {
    return objectOf(JSON.parse(body.toString()))
  } catch {
    return {}
  }
}

// There is no event for a charge that failed.
function newsOf(event: string, data: JsonAnswer): readonly WebhookUpdate[] {
  if (event === 'charge.success') return about(data.reference)
  const transaction = objectOf(data.transaction)
  if (event.startsWith('refund.'))
    return about(data.transaction_reference ?? transaction.reference, { check_reversals: true })
  if (event.startsWith('charge.dispute.'))
    return about(transaction.reference ?? data.merchant_transaction_reference, { check_reversals: true })
  return []
}

const about = (key: unknown, more: Partial<WebhookUpdate> = {}): readonly WebhookUpdate[] =>
  typeof key === 'string' && key !== '' && key.length <= maxKey ? [{ idempotency_key: key, ...more }] : []

const objectOf = (told: unknown): JsonAnswer =>
  typeof told === 'object' && told !== null ? (told as JsonAnswer) : {}
