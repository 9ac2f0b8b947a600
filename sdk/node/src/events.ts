import { NotificationError, UnavailableError } from './errors.ts'
import { readFields } from './notification.ts'
import { isStatus, type PaymentStatus } from './payment.ts'
import { type RefundRecord, type RefundState, readRefundRecord } from './refund.ts'
import { type Hmac, hex } from './signature.ts'
import { type Limits, type MakeRequest, parseObject, send, sleep, type Transport } from './transport.ts'

/**
 * An event of the feed: a change of status, a refund, a reversal by the provider or a dispute. Other types may be added.
 *
 * @example
 * for await (const event of tollgate.events({ after })) {
 *   if (event.type === 'refund.succeeded') await recordRefund(event.invoiceId, event.amountMinor)
 *   await saveCursor(event.cursor)
 * }
 */
export type FeedEvent = {
  /** Store it when you have processed the event, and pass it as `after` to continue behind it. */
  cursor: string
  /** The id of its notification. */
  id: string
  /** Counts the events of this payment. */
  sequence: number
  type:
    | 'status'
    | 'reversed'
    | 'dispute_opened'
    | 'dispute_won'
    | 'dispute_lost'
    | `refund.${RefundState}`
    | (string & {})
  /** The status at that time. After a refund it stays `paid`. */
  status: PaymentStatus
  createdAt: Date
  invoiceId: string
  /** The gateway's reference of the payment. */
  reference: string
  /** The total, or the amount of the refund or dispute, as decimal text. */
  amount: string
  /** The same in minor units. */
  amountMinor: number
  currency: string
  /** Why: `status_reason` of a status, `reason` of a refund or dispute. */
  reason: string
  paymentMethod: string | null
  /** Of an event `refund.*`; otherwise null. */
  refund: RefundRecord | null
  /** The exact text of the notification. */
  rawBody: string
  /** `rawBody` as parsed, for keys that this version does not know. */
  raw: Record<string, unknown>
}

/**
 * Where the feed begins, and how far it is read.
 *
 * @example
 * tollgate.events({ after: await loadCursor(), follow: true, signal: stopping.signal })
 */
export type EventsOptions = {
  /** The cursor of the last event that you have processed. Absent or empty: from the oldest, 30 days ago. */
  after?: string | undefined
  /** How many events one request reads, from 1 to 500; by default 100. */
  limit?: number | undefined
  /** Wait for new events instead of ending at the last one. An outage of the gateway does not end it. */
  follow?: boolean | undefined
  /** With `follow`: how long to wait after the last event; by default 5000. */
  pollMs?: number | undefined
  /** Ends the reading. */
  signal?: AbortSignal | undefined
}

type Reader = { transport: Transport; merchantKey: string; hmac: Hmac }

export async function* readEvents(
  reader: Reader,
  options: EventsOptions,
): AsyncGenerator<FeedEvent, void, void> {
  const { limit = 100, follow = false, pollMs = 5000, signal } = options
  const { transport } = reader
  const limits = { ...transport.limits, signal }
  let after = options.after ?? ''
  for (;;) {
    let delayMs = pollMs
    const page = await readPage(reader, after, limit, limits).catch((error: unknown) => {
      if (!follow || !(error instanceof UnavailableError)) throw error
      delayMs = Math.max(pollMs, error.retryAfterMs ?? 0)
      if (!signal?.aborted) transport.onRetry({ error, attempt: limits.tries, delayMs })
      return undefined
    })
    if (page) {
      yield* page.events
      after = page.next
      if (page.more) continue
      if (!follow) return
    }
    await sleep(delayMs, signal).catch(() => {})
    if (signal?.aborted) return
  }
}

async function readPage(reader: Reader, after: string, limit: number, limits: Limits) {
  const { transport, merchantKey, hmac } = reader
  const query = new URLSearchParams({ merchant_key: merchantKey, after, limit: String(limit) })
  // The signature covers the time, so each try is signed anew.
  const request: MakeRequest = async () => {
    const t = Math.floor(Date.now() / 1000)
    const signature = hex(await hmac(`${t}.${merchantKey}.${after}.${limit}`))
    const headers = { accept: 'application/json', 'x-tollgate-signature': `t=${t},v1=${signature}` }
    return { path: `/v1/events?${query.toString()}`, init: { method: 'GET', headers } }
  }
  const { body, requestId } = await send(transport, request, limits)
  const { events, next, more } = body
  if (!Array.isArray(events) || typeof next !== 'string' || typeof more !== 'boolean')
    throw new UnavailableError('The answer is not a page of the event feed.', { requestId })
  return { events: events.map(event => readEvent(event as Record<string, unknown>)), next, more }
}

function readEvent(event: Record<string, unknown>): FeedEvent {
  const rawBody = String(event.body)
  const raw = parseObject(rawBody)
  const fields = raw && (raw.type === 'refund' ? refundFields(raw, event.status) : readFields(raw))
  if (!fields)
    throw new NotificationError(
      'notification_malformed',
      `The event ${String(event.id)} cannot be read. Update @tollgate/merchant, or continue behind it with after: ` +
        `'${String(event.cursor)}'.`,
    )
  const { statusReason, paidAt: _paidAt, extra: _extra, ...shared } = { refund: null, ...fields }
  return {
    cursor: String(event.cursor),
    id: String(event.id),
    sequence: Number(event.sequence),
    type: String(event.type),
    createdAt: new Date(String(event.created_at)),
    ...shared,
    reason: typeof raw.reason === 'string' ? raw.reason : statusReason,
    rawBody,
    raw,
  }
}

// The body of a refund has no status, so that of the event is used.
function refundFields(raw: Record<string, unknown>, status: unknown) {
  const refund = readRefundRecord(raw)
  if (!refund || !isStatus(status)) return undefined
  const { invoiceId, paymentReference: reference, amount, amountMinor, currency, stateReason } = refund
  return {
    invoiceId,
    reference,
    status,
    statusReason: stateReason,
    amount,
    amountMinor,
    currency,
    paymentMethod: null,
    paidAt: null,
    extra: {},
    refund,
  }
}
