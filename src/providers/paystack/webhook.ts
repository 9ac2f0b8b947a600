import { createHmac, timingSafeEqual } from 'node:crypto'
import type { WebhookUpdate, Webhook } from '../../core/provider/webhook.ts'
import { type JsonAnswer, readJson } from '../http/providerHttp.ts'

const maxKey = 100

// A webhook is signed with the secret key. It has no timestamp, so it may be replayed; that does no harm, because it only
// prompts a status question. The sender's IP address is not checked: behind a proxy it is always the proxy's.
export function readPaystackWebhook(
  { headers, body }: Webhook,
  secretKey: string,
): readonly WebhookUpdate[] | undefined {
  if (!isSigned(body, headers['x-paystack-signature'], secretKey)) return undefined
  const { event, data } = readJson(body.toString()) ?? {}
  return typeof event === 'string' ? updatesOf(event, objectOf(data)) : []
}

function isSigned(body: Buffer, signature: string | undefined, secretKey: string): boolean {
  if (signature === undefined || !/^[0-9a-f]{128}$/.test(signature)) return false
  const expected = createHmac('sha512', secretKey).update(body).digest()
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'))
}

// Paystack sends no event for a failed charge.
function updatesOf(event: string, data: JsonAnswer): readonly WebhookUpdate[] {
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

const objectOf = (value: unknown): JsonAnswer =>
  typeof value === 'object' && value !== null ? (value as JsonAnswer) : {}
