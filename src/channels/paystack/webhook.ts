import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Reversal } from '../../core/channel/reply.ts'
import type { OrderNews, Webhook } from '../../core/channel/webhook.ts'
import type { JsonAnswer } from '../http/askJson.ts'

const maxKey = 100

// Who has the secret key has signed the very bytes. Nothing in it tells when, so an old one may come again: it makes us
// ask, and says nothing that counts but that money went back. Where it came from is not looked at: behind a proxy every
// address is the proxy's.
export function hear({ headers, body }: Webhook, secretKey: string): readonly OrderNews[] | undefined {
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
function newsOf(event: string, data: JsonAnswer): readonly OrderNews[] {
  if (event === 'charge.success') return about(data.reference)
  const transaction = objectOf(data.transaction)
  if (event.startsWith('refund.'))
    return about(data.transaction_reference ?? transaction.reference, refundOf(event, data))
  if (event.startsWith('charge.dispute.')) return about(transaction.reference, disputeOf(event, data))
  return []
}

const about = (key: unknown, reversal?: Reversal): readonly OrderNews[] =>
  typeof key === 'string' && key !== '' && key.length <= maxKey
    ? [{ key, ...(reversal && { reversal }) }]
    : []

function refundOf(event: string, data: JsonAnswer): Reversal | undefined {
  if (event !== 'refund.processed') return undefined // not yet, or not at all
  return { kind: 'reversed', words: `Paystack paid back ${moneyOf(data.amount, data.currency)}.` }
}

function disputeOf(event: string, data: JsonAnswer): Reversal | undefined {
  if (event !== 'charge.dispute.create') return undefined // of one that we know
  const due = typeof data.due_at === 'string' ? ` Answer at Paystack before ${data.due_at.slice(0, 10)}.` : ''
  return {
    kind: 'charged_back',
    words: `The customer disputes ${moneyOf(data.refund_amount, data.currency)}.${due}`,
  }
}

// Its amounts are in hundredths, whatever the currency.
function moneyOf(amount: unknown, currency: unknown): string {
  const hundredths = typeof amount === 'string' ? Number(amount || Number.NaN) : amount
  if (!Number.isSafeInteger(hundredths) || typeof currency !== 'string') return 'money'
  return `${currency} ${(Number(hundredths) / 100).toFixed(2)}`
}

const objectOf = (told: unknown): JsonAnswer =>
  typeof told === 'object' && told !== null ? (told as JsonAnswer) : {}
