import { InvalidInputError, NotificationError } from './errors.ts'
import { type EventsOptions, type FeedEvent, readEvents } from './events.ts'
import { type ExpectedOrder, handle, type NotificationRules, type ReceivedNotification } from './handler.ts'
import { initiate, type InitiatedPayment, type Order } from './initiate.ts'
import {
  type Notification,
  type NotificationHeaders,
  type RawBody,
  readNotification,
  readRefundNotification,
  type RefundNotification,
  verify,
} from './notification.ts'
import { checkStatus, type Payment } from './payment.ts'
import { checkRefund, refund, type RefundOrder, type RefundRecord } from './refund.ts'
import { hex, hmacWith, notificationKey, type SignedFields, stringToSign, utf8 } from './signature.ts'
import type { Limits, Retry, Transport } from './transport.ts'

/**
 * What `createTollgate` needs. Your operator gives you the address and the keys of each mode. An undefined value, as of an
 * environment variable that is not set, is an `InvalidInputError` that names it.
 *
 * @example
 * const options: TollgateOptions = {
 *   baseUrl: 'https://pay.example',
 *   merchantKey: process.env.TOLLGATE_MERCHANT_KEY,
 *   merchantSecret: process.env.TOLLGATE_MERCHANT_SECRET,
 *   ipnSecret: process.env.TOLLGATE_IPN_SECRET,
 * }
 */
export type TollgateOptions = {
  /** The address of the gateway, such as `https://pay.example`. */
  baseUrl: string | undefined
  /** Begins with `tk_` (test) or `lk_` (live). */
  merchantKey: string | undefined
  /** The secret key. It never leaves this process. */
  merchantSecret: string | undefined
  /** The signing secret of notifications, `whsec_...`; several while you change it. */
  ipnSecret?: string | readonly string[] | undefined
  /** By default the global `fetch`. */
  fetch?: typeof fetch | undefined
  /** How long one try may take; by default 15000. */
  timeoutMs?: number | undefined
  /** How often a request is sent before an error is thrown; by default 4. */
  tries?: number | undefined
  /** The wait before the second try; it doubles with each try. By default 400. */
  backoffMs?: number | undefined
  /** How old a notification may be; by default 300. */
  toleranceSeconds?: number | undefined
  /** Called before a request is repeated, for your log. */
  onRetry?: ((retry: Retry) => void) | undefined
}

/**
 * A hash, and the text that was hashed.
 *
 * @example
 * const { hash, text } = await tollgate.sign({ invoiceId: 'AMA-1042', total: '25.00' })
 */
export type Signed = {
  /** Hexadecimal: the `secure_hash` of a request. */
  hash: string
  /** Compare it with `hint.hashedString` of a `RefusedError`. It contains no secret. */
  text: string
}

/**
 * Options of a single call.
 *
 * @example
 * await tollgate.status({ invoiceId: 'AMA-1042' }, { signal: AbortSignal.timeout(3000) })
 */
export type CallOptions = {
  /** Ends the call. */
  signal?: AbortSignal | undefined
}

/**
 * The merchant's side of a Tollgate gateway, made by `createTollgate`.
 *
 * @example
 * const tollgate: Tollgate = createTollgate({ baseUrl, merchantKey, merchantSecret, ipnSecret })
 */
export type Tollgate = {
  /**
   * The hash of a request as the gateway expects it. The other methods sign for you; this is for debugging and for web
   * forms. Without `total` it is the hash of a status check, with `refundId` that of a refund or of its check.
   *
   * @example
   * const { hash, text } = await tollgate.sign({ invoiceId: 'AMA-1042', total: '25.00' })
   */
  sign(fields: SignedFields): Promise<Signed>
  /**
   * Requests a payment. After a timeout, a broken connection, HTTP 429 or 5xx it sends the same bytes again. If no try
   * gets an answer, it throws `OutcomeUnknownError`: the payment may be stored or not, and calling again with the same
   * order is safe.
   *
   * @example
   * const { checkoutUrl, reference } = await tollgate.initiate({ invoiceId: 'AMA-1042', total: '25.00' })
   */
  initiate(order: Order, options?: CallOptions): Promise<InitiatedPayment>
  /**
   * The payment as the gateway has it now. Throws `RefusedError` with `httpStatus` 404 if there is none.
   *
   * @example
   * const { status, amountMinor, currency } = await tollgate.status({ invoiceId: 'AMA-1042' })
   */
  status(payment: { invoiceId: string }, options?: CallOptions): Promise<Payment>
  /**
   * Refunds a paid payment, or a part of it. After a timeout, a broken connection, HTTP 429 or 5xx it sends the same bytes
   * again. If no try gets an answer, it throws `OutcomeUnknownError`: calling again with the same values is safe and never
   * refunds twice. Only the state `succeeded` means that the money went back; ask again by `refundStatus`.
   *
   * @example
   * const { state } = await tollgate.refund({ refundId: 'R-1042-1', invoiceId: 'AMA-1042', amount: '10.00' })
   */
  refund(order: RefundOrder, options?: CallOptions): Promise<RefundRecord>
  /**
   * The refund as the gateway has it now. Throws `RefusedError` with `httpStatus` 404 if there is none.
   *
   * @example
   * const { state, succeededAt } = await tollgate.refundStatus({ refundId: 'R-1042-1' })
   */
  refundStatus(refund: { refundId: string }, options?: CallOptions): Promise<RefundRecord>
  /**
   * Throws `SignatureError` unless the gateway signed this body within the last minutes.
   *
   * @example
   * await tollgate.verifyNotification(await request.text(), request.headers)
   */
  verifyNotification(rawBody: RawBody, headers: NotificationHeaders): Promise<void>
  /**
   * Verifies a notification and reads it. Check the status before you act on it; `handleNotification` does.
   *
   * @example
   * const { invoiceId } = await tollgate.parseNotification(rawBody, req.headers)
   */
  parseNotification(rawBody: RawBody, headers: NotificationHeaders): Promise<Notification>
  /**
   * Verifies a notification of a refund and reads it. Throws `NotificationError` if it is about a status.
   *
   * @example
   * const { refund } = await tollgate.parseRefundNotification(rawBody, req.headers)
   */
  parseRefundNotification(rawBody: RawBody, headers: NotificationHeaders): Promise<RefundNotification>
  /**
   * Verifies a notification, asks the gateway for the status, compares amount, currency and invoice with your order, and
   * calls `onStatus` once for each invoice and status. Returns the answer for the gateway: 200 after `onStatus` has
   * succeeded, for a duplicate, and for a refund without `onRefund`; 4xx for what the gateway did not send, 5xx for what it must send again. It never
   * throws.
   *
   * @example
   * Deno.serve(request => tollgate.handleNotification({ request, store, findOrder, onStatus }))
   */
  handleNotification<O extends ExpectedOrder>(
    received: ReceivedNotification & NotificationRules<O>,
  ): Promise<Response>
  /**
   * Reads the event feed, the oldest event first, each exactly once. Store `cursor` of an event after you have processed
   * it, and pass it as `after` the next time: no event is skipped.
   *
   * @example
   * for await (const event of tollgate.events({ after: await loadCursor() })) {
   *   await processEvent(event)
   *   await saveCursor(event.cursor)
   * }
   */
  events(options?: EventsOptions): AsyncGenerator<FeedEvent, void, void>
}

// The gateway waits 10 seconds for the answer to a notification, so the status check inside must be quick.
const quick = ({ tries, timeoutMs, backoffMs }: Limits): Limits => ({
  tries: Math.min(tries, 2),
  timeoutMs: Math.min(timeoutMs, 4000),
  backoffMs: Math.min(backoffMs, 200),
})

/**
 * Creates a client of a gateway. It holds no connection and needs no closing.
 *
 * @example
 * const tollgate = createTollgate({
 *   baseUrl: 'https://pay.example',
 *   merchantKey: 'tk_7m2k9c4w8x1z5b3n',
 *   merchantSecret: process.env.TOLLGATE_MERCHANT_SECRET,
 *   ipnSecret: process.env.TOLLGATE_IPN_SECRET,
 * })
 */
export function createTollgate(options: TollgateOptions): Tollgate {
  const merchantKey = requiredText(options, 'merchantKey')
  const hmac = hmacWith(utf8(requiredText(options, 'merchantSecret')))
  const keys = [options.ipnSecret ?? []].flat().map(secret => hmacWith(notificationKey(secret)))
  const transport = transportOf(options)
  const { limits } = transport
  const signer = { merchantKey, hmac }
  const mode = merchantKey.startsWith('tk_') ? 'test' : 'live'

  const verified = (rawBody: RawBody, headers: NotificationHeaders) => {
    if (keys.length === 0)
      throw new InvalidInputError(
        'ipnSecret',
        'is missing. Pass the signing secret, whsec_..., to createTollgate.',
      )
    return verify(rawBody, headers, {
      keys,
      toleranceSeconds: options.toleranceSeconds ?? 300,
      now: Date.now(),
    })
  }
  const parse = async (rawBody: RawBody, headers: NotificationHeaders) =>
    readNotification(await verified(rawBody, headers))
  const parseAny = async (rawBody: RawBody, headers: NotificationHeaders) => {
    const genuine = await verified(rawBody, headers)
    return readRefundNotification(genuine) ?? readNotification(genuine)
  }
  const quickStatus = (invoiceId: string) => checkStatus(transport, signer, invoiceId, quick(limits))

  return {
    async sign(fields) {
      const text = stringToSign(merchantKey, fields)
      return { hash: hex(await hmac(text)), text }
    },
    initiate: (order, call) => initiate(transport, signer, order, { ...limits, ...call }),
    status: ({ invoiceId }, call) => checkStatus(transport, signer, invoiceId, { ...limits, ...call }),
    refund: (order, call) => refund(transport, signer, order, { ...limits, ...call }),
    refundStatus: ({ refundId }, call) => checkRefund(transport, signer, refundId, { ...limits, ...call }),
    async verifyNotification(rawBody, headers) {
      await verified(rawBody, headers)
    },
    parseNotification: parse,
    async parseRefundNotification(rawBody, headers) {
      const read = readRefundNotification(await verified(rawBody, headers))
      if (read) return read
      throw new NotificationError('notification_malformed', 'The body is not a notification of a refund.')
    },
    handleNotification: received =>
      handle({ mode, parse: parseAny, status: quickStatus }, received, received),
    events: (feed = {}) => readEvents({ transport, ...signer }, feed),
  }
}

function requiredText(options: TollgateOptions, name: 'baseUrl' | 'merchantKey' | 'merchantSecret'): string {
  const value: unknown = options[name]
  if (typeof value === 'string' && value !== '') {
    if (value === value.trim()) return value
    throw new InvalidInputError(name, 'begins or ends with a space or a line break. Remove it.')
  }
  throw new InvalidInputError(
    name,
    'is missing. Your operator gives it to you; is the environment variable set?',
  )
}

export function transportOf(options: TollgateOptions): Transport {
  const text = requiredText(options, 'baseUrl')
  if (!/^https?:\/\/[^/?#@]+(\/[^?#]*)?$/.test(text))
    throw new InvalidInputError('baseUrl', `must be an address such as https://pay.example (got ${text}).`)
  const limits = {
    tries: options.tries ?? 4,
    timeoutMs: options.timeoutMs ?? 15_000,
    backoffMs: options.backoffMs ?? 400,
  }
  for (const [name, value] of Object.entries(limits))
    if (!(value > 0)) throw new InvalidInputError(name, `must be more than zero (got ${value}).`)
  // Called as a plain function: the fetch of some runtimes refuses any other `this`.
  const send = options.fetch ?? fetch
  return {
    baseUrl: text.replace(/\/+$/, ''),
    fetch: (...args) => send(...args),
    limits,
    onRetry: options.onRetry ?? (() => {}),
  }
}
