import { NotificationError, SignatureError } from './errors.ts'
import { readMoney } from './money.ts'
import { isStatus, type PaymentStatus } from './payment.ts'
import { type RefundRecord, readRefundRecord } from './refund.ts'
import { type Bytes, equalInConstantTime, type Hmac, notificationSignature, utf8 } from './signature.ts'
import { parseObject } from './transport.ts'
import { dateOf, extraOf, textOf } from './values.ts'

/**
 * The body of a notification as received, before any parser has read it: bytes, or text decoded as UTF-8.
 *
 * @example
 * const rawBody: RawBody = new Uint8Array(await request.arrayBuffer())
 */
export type RawBody = string | Uint8Array | ArrayBuffer

/**
 * The headers of a notification: web `Headers`, or an object as in `req.headers` of Node. Letter case does not matter.
 *
 * @example
 * const headers: NotificationHeaders = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
 */
export type NotificationHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * A notification whose signature was verified. It is a reason to check the status, never a proof of payment.
 *
 * @example
 * const { invoiceId } = await tollgate.parseNotification(rawBody, request.headers)
 * const payment = await tollgate.status({ invoiceId })
 */
export type Notification = {
  /** The same on every try, such as `TG-1KJPY4-4E027Z-Q8W4TD-N1`. */
  id: string
  /** Counts the notifications of this payment: 1, 2, 3. */
  sequence: number
  /** The number of this try. It is not signed. */
  attempt: number
  /** When this try was sent. */
  sentAt: Date
  invoiceId: string
  /** The gateway's reference of the payment. */
  reference: string
  status: PaymentStatus
  statusReason: string
  /** The amount due as decimal text. */
  amount: string
  /** The amount due in minor units. */
  amountMinor: number
  currency: string
  paymentMethod: string | null
  /** When it was paid; null until then. */
  paidAt: Date | null
  /** Your own fields, and the gateway's. */
  extra: Record<string, string | null>
  /** The body as parsed, for keys that this version does not know. */
  raw: Record<string, unknown>
}

/**
 * A notification of a refund whose signature was verified. The gateway sends it only if your setting `ipn_refunds` is on.
 * It says nothing about the status of the payment, which stays `paid`.
 *
 * @example
 * const { refund } = await tollgate.parseRefundNotification(rawBody, request.headers)
 */
export type RefundNotification = Pick<
  Notification,
  'id' | 'sequence' | 'attempt' | 'sentAt' | 'invoiceId' | 'reference' | 'raw'
> & {
  /** The refund as it was when the notification was made. */
  refund: RefundRecord
}

export type Verification = { keys: readonly Hmac[]; toleranceSeconds: number; now: number }

// Verified bytes with the headers that are signed.
export type VerifiedBody = { id: string; timestamp: string; body: Bytes; header(name: string): string }

export async function verify(
  rawBody: RawBody,
  headers: NotificationHeaders,
  { keys, toleranceSeconds, now }: Verification,
): Promise<VerifiedBody> {
  const body = bytesOf(rawBody)
  const header = (name: string) => headerOf(headers, name)
  const id = header('webhook-id')
  const timestamp = header('webhook-timestamp')
  const signatures = header('webhook-signature')
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
    if (header(name) === '')
      throw new SignatureError(
        'signature_missing',
        `The header ${name} is missing: not from the gateway.`,
        name,
      )
  const sent = signatures.split(' ')
  for (const key of keys) {
    const expected = await notificationSignature(key, id, timestamp, body)
    if (sent.some(signature => equalInConstantTime(signature, expected)))
      return checkTime({ id, timestamp, body, header }, toleranceSeconds, now)
  }
  throw new SignatureError(
    'signature_mismatch',
    'The signature does not match. It is forged, or ipnSecret is of another merchant or mode, or the body was changed ' +
      'before it was verified: pass the bytes as received.',
    'webhook-signature',
  )
}

// Checked after the signature, so that only a holder of the secret learns about the clock.
function checkTime(verified: VerifiedBody, toleranceSeconds: number, now: number): VerifiedBody {
  const { timestamp } = verified
  const away = /^\d{1,12}$/.test(timestamp)
    ? Math.abs(now / 1000 - Number(timestamp))
    : Number.POSITIVE_INFINITY
  if (away <= toleranceSeconds) return verified
  throw new SignatureError(
    'timestamp_out_of_tolerance',
    `The notification was sent ${Math.round(away)} seconds from now; ${toleranceSeconds} are allowed. ` +
      'It is a copy of an old one, or the clock of this machine is wrong.',
    'webhook-timestamp',
  )
}

export function readNotification({ id, timestamp, body, header }: VerifiedBody): Notification {
  const raw = parseObject(textIn(body))
  if (raw?.type === 'refund')
    throw new NotificationError(
      'notification_of_refund',
      'This notification is about a refund and has no status. Read it by parseRefundNotification.',
    )
  const fields = raw && readFields(raw)
  if (!fields)
    throw new NotificationError(
      'notification_malformed',
      body.length === 0
        ? 'The body is empty. This package reads notifications of ipn_style=post.'
        : 'The body is not a notification of a status.',
    )
  return { ...deliveryOf({ id, timestamp, header }), ...fields, raw }
}

// Undefined if the notification is not about a refund.
export function readRefundNotification(verified: VerifiedBody): RefundNotification | undefined {
  const raw = parseObject(textIn(verified.body))
  if (raw?.type !== 'refund') return undefined
  const refund = readRefundRecord(raw)
  if (!refund) throw new NotificationError('notification_malformed', 'The body is not a refund.')
  const { invoiceId, paymentReference: reference } = refund
  return { ...deliveryOf(verified), invoiceId, reference, refund, raw }
}

const deliveryOf = ({ id, timestamp, header }: Omit<VerifiedBody, 'body'>) => ({
  id,
  sequence: Number(/-N(\d+)$/.exec(id)?.[1] ?? 0), // the header webhook-sequence is not signed, the id is
  attempt: Number(header('webhook-attempt')),
  sentAt: new Date(Number(timestamp) * 1000),
})

// The fields that notifications and events of the feed share.
export type NotificationFields = Omit<Notification, 'id' | 'sequence' | 'attempt' | 'sentAt' | 'raw'>

export function readFields(raw: Record<string, unknown>): NotificationFields | undefined {
  const { invoice_id, tx_reference, status, currency } = raw
  if (typeof invoice_id !== 'string' || typeof tx_reference !== 'string' || typeof currency !== 'string')
    return undefined
  const money = readMoney(raw.amount, currency)
  if (!isStatus(status) || !money) return undefined
  return {
    invoiceId: invoice_id,
    reference: tx_reference,
    status,
    statusReason: textOf(raw.status_reason) ?? '',
    ...money,
    currency,
    paymentMethod: textOf(raw.payment_method),
    paidAt: dateOf(raw.payment_time),
    extra: extraOf(raw.extra),
  }
}

function bytesOf(rawBody: RawBody): Bytes {
  if (typeof rawBody === 'string') return utf8(rawBody)
  if (rawBody instanceof ArrayBuffer) return new Uint8Array(rawBody)
  if (rawBody instanceof Uint8Array) return new Uint8Array(rawBody)
  throw new NotificationError(
    'body_not_raw',
    'The body is not raw: pass the bytes or the text as received, not the object that a JSON parser made of it.',
  )
}

function textIn(body: Bytes): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return ''
  }
}

function headerOf(headers: NotificationHeaders, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? ''
  const value = headers[name] ?? Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  return typeof value === 'string' ? value : (value?.join(' ') ?? '')
}
