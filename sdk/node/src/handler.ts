import {
  HandlerError,
  type HandlerFault,
  MismatchError,
  NotificationError,
  SignatureError,
  TollgateError,
  UnavailableError,
} from './errors.ts'
import { type Amount, defaultCurrency, minorOf } from './money.ts'
import type { Notification, NotificationHeaders, RawBody, RefundNotification } from './notification.ts'
import type { Payment } from './payment.ts'
import type { Refund } from './refund.ts'
import type { NotificationStore } from './store.ts'

/**
 * What `findOrder` returns: the amount that you expect, and anything else that `onStatus` needs.
 *
 * @example
 * const order = { total: '25.00', currency: 'GHS', id: 1042, hats: 2 } satisfies ExpectedOrder
 */
export type ExpectedOrder = Amount & {
  /** By default GHS. */
  currency?: string | null | undefined
  /** If present, it is compared too. */
  invoiceId?: string | null | undefined
  /** The reference that `initiate` returned. If present, it is compared too. */
  reference?: string | null | undefined
}

/**
 * Passed to `onStatus`: the status as the gateway has it now, which can be newer than the notification.
 *
 * @example
 * async onStatus({ status, order, payment }) {
 *   if (status === 'paid') await deliver(order, payment.reference)
 * }
 */
export type StatusChange<O extends ExpectedOrder = ExpectedOrder> = {
  status: Payment['status']
  /** The answer of the status check. Its amount and currency are those of `order`. */
  payment: Payment
  /** What `findOrder` returned. */
  order: O
  /** The notification that caused the call. Act on `status`, not on it. */
  notification: Notification
}

/**
 * Passed to `onRefund`: the refund as the gateway has it now, which can be newer than the notification.
 *
 * @example
 * async onRefund({ refund, order }) {
 *   if (refund.state === 'succeeded') await creditNote(order, refund.amountMinor)
 * }
 */
export type RefundChange<O extends ExpectedOrder = ExpectedOrder> = {
  refund: Refund
  /** The answer of the status check. Its status stays `paid`. */
  payment: Payment
  /** What `findOrder` returned. */
  order: O
  /** The notification that caused the call. */
  notification: RefundNotification
}

/**
 * Your side of the notifications.
 *
 * @example
 * const rules: NotificationRules<Order> = {
 *   store: fileStore('./notifications'),
 *   findOrder: invoiceId => orders.get(invoiceId),
 *   onStatus: ({ status, order }) => orders.setStatus(order.id, status),
 * }
 */
export type NotificationRules<O extends ExpectedOrder = ExpectedOrder> = {
  store: NotificationStore
  /** Your order with this invoice id; null or undefined if there is none. */
  findOrder(invoiceId: string): O | null | undefined | Promise<O | null | undefined>
  /**
   * Called once for each invoice and status. If it throws, or its process ends before it returns, it is called again:
   * make it idempotent. Await everything in it, because the gateway is answered when it returns.
   */
  onStatus(change: StatusChange<O>): unknown
  /**
   * Called once for each refund and state, if your setting `ipn_refunds` is on. Without it, notifications of refunds are
   * acknowledged and ignored. A refund is never a change of the status: `onStatus` is not called for it.
   */
  onRefund?: ((change: RefundChange<O>) => unknown) | undefined
  /** Called with everything that is not answered 200. By default it is written to `console.error`. */
  onError?: ((error: TollgateError) => void) | undefined
  /** How long a call of `onStatus` may take before another process may repeat it; by default 60000. */
  leaseMs?: number | undefined
}

/**
 * A notification as received: a web `Request`, or its raw body and headers.
 *
 * @example
 * await tollgate.handleNotification({ request, ...rules })
 * await tollgate.handleNotification({ rawBody, headers, ...rules })
 */
export type ReceivedNotification =
  | { request: Request; rawBody?: undefined; headers?: undefined }
  | { request?: undefined; rawBody: RawBody; headers: NotificationHeaders }

export type Gateway = {
  mode: Payment['mode']
  parse(rawBody: RawBody, headers: NotificationHeaders): Promise<Notification | RefundNotification>
  status(invoiceId: string): Promise<Payment>
}

export const maxBodyBytes: number = 256 * 1024
const defaultLeaseMs = 60_000

// Never throws. Only HTTP 200 acknowledges a notification; after any other answer the gateway delivers it again.
export async function handle<O extends ExpectedOrder>(
  gateway: Gateway,
  received: ReceivedNotification,
  rules: NotificationRules<O>,
): Promise<Response> {
  try {
    const { rawBody, headers } = received.request ? await readRequest(received.request) : received
    return answer(200, await handleParsed(gateway, rules, await gateway.parse(rawBody, headers)))
  } catch (error) {
    return refuse(error, rules)
  }
}

// A test notification is about no payment. It only shows that it arrives and is verified.
function handleParsed<O extends ExpectedOrder>(
  gateway: Gateway,
  rules: NotificationRules<O>,
  notification: Notification | RefundNotification,
): Promise<Outcome> | Outcome {
  if ('refund' in notification) return handleRefund(gateway, rules, notification)
  return notification.raw.type === 'test' ? 'ignored' : handleInTurn(gateway, rules, notification)
}

async function readRequest(request: Request) {
  if (request.method !== 'POST') throw wrongMethod(request.method)
  if (request.bodyUsed)
    throw bodyAlreadyRead('Pass a request whose body nothing has read, or request.clone().')
  return { rawBody: await readLimited(request), headers: request.headers }
}

async function readLimited(request: Request): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  const reader = request.body?.getReader()
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    const part = read.value as Uint8Array
    size += part.length
    if (size > maxBodyBytes) throw tooLarge()
    parts.push(part)
  }
  const body = new Uint8Array(size)
  let at = 0
  for (const part of parts) {
    body.set(part, at)
    at += part.length
  }
  return body
}

export const tooLarge = (): NotificationError =>
  new NotificationError('body_too_large', `The body is larger than ${maxBodyBytes / 1024} KiB.`)

export const wrongMethod = (method: string): NotificationError =>
  new NotificationError(
    'method_not_allowed',
    `A notification is a POST, this is a ${method}. With ipn_style=get, ask your operator for ipn_style=post.`,
  )

export const bodyAlreadyRead = (whatToDo: string): NotificationError =>
  new NotificationError(
    'body_already_read',
    `The body was read before it could be verified, and the signature covers its exact bytes. ${whatToDo}`,
  )

async function matchingOrder<O extends ExpectedOrder>(
  { findOrder }: NotificationRules<O>,
  notification: Pick<Notification, 'reference'>,
  payment: Payment,
): Promise<O> {
  const { invoiceId, reference } = payment
  if (notification.reference !== reference)
    throw new MismatchError('reference_mismatch', 'reference', notification.reference, reference)
  const order = await mustSucceed('handler_failed', `findOrder failed for ${invoiceId}`, () =>
    findOrder(invoiceId),
  )
  if (!order)
    throw new HandlerError(
      'order_not_found',
      `findOrder found no order for invoice ${invoiceId}. Store the order before you call initiate.`,
    )
  const expects = {
    invoiceId: order.invoiceId ?? invoiceId,
    reference: order.reference ?? reference,
    currency: order.currency ?? defaultCurrency,
  }
  if (expects.invoiceId !== invoiceId)
    throw new MismatchError('invoice_mismatch', 'invoiceId', expects.invoiceId, invoiceId)
  if (expects.reference !== reference)
    throw new MismatchError('reference_mismatch', 'reference', expects.reference, reference)
  if (expects.currency !== payment.currency)
    throw new MismatchError('currency_mismatch', 'currency', expects.currency, payment.currency)
  const expectedMinor = minorOf(order, expects.currency)
  if (expectedMinor !== payment.amountMinor)
    throw new MismatchError(
      'amount_mismatch',
      'amount',
      `${expectedMinor} minor units`,
      `${payment.amountMinor} minor units`,
    )
  return order
}

// The invoice is claimed before the status is read, so that an older status is never passed on after a newer one. No
// invoice id contains an asterisk, so the key is never that of a status.
const handleInTurn = <O extends ExpectedOrder>(
  gateway: Gateway,
  rules: NotificationRules<O>,
  notification: Notification,
): Promise<Outcome> =>
  whileClaimed(rules, `${gateway.mode}:${notification.invoiceId}:*`, async () => {
    const payment = await gateway.status(notification.invoiceId)
    const order = await matchingOrder(rules, notification, payment)
    return callOnce(rules, { status: payment.status, payment, order, notification })
  })

// The same for a refund. The status record lists the refunds, so it shows that the refund exists and its state.
async function handleRefund<O extends ExpectedOrder>(
  gateway: Gateway,
  rules: NotificationRules<O>,
  notification: RefundNotification,
): Promise<Outcome> {
  const { onRefund } = rules
  if (!onRefund) return 'ignored'
  const { reference } = notification.refund
  const key = `${gateway.mode}:*refund:${reference}`
  return whileClaimed(rules, `${key}:*`, async () => {
    const payment = await gateway.status(notification.invoiceId)
    const refund = payment.refunds.find(one => one.reference === reference)
    if (!refund)
      throw new MismatchError('reference_mismatch', 'refund', reference, 'no refund with this reference')
    const order = await matchingOrder(rules, notification, payment)
    const keyOfState = `${key}:${refund.state}`
    return whileClaimed(rules, keyOfState, async complete => {
      await mustSucceed('handler_failed', `onRefund failed for ${keyOfState}`, () =>
        onRefund({ refund, payment, order, notification }),
      )
      await complete()
      return 'handled'
    })
  })
}

type Outcome = 'handled' | 'duplicate' | 'ignored'

// If the process ends in between, the claim expires and a later delivery calls again.
const callOnce = <O extends ExpectedOrder>(rules: NotificationRules<O>, change: StatusChange<O>) => {
  const key = `${change.payment.mode}:${change.payment.invoiceId}:${change.status}`
  return whileClaimed(rules, key, async complete => {
    await mustSucceed('handler_failed', `onStatus failed for ${key}`, () => rules.onStatus(change))
    await complete()
    return 'handled'
  })
}

// Runs a function while this call has claimed a key. Afterwards the claim is released, unless the function has completed
// it. A key that was completed before is a duplicate.
async function whileClaimed<O extends ExpectedOrder>(
  { store, leaseMs = defaultLeaseMs }: NotificationRules<O>,
  key: string,
  run: (complete: () => Promise<void>) => Promise<Outcome>,
): Promise<Outcome> {
  const owner = crypto.randomUUID()
  const storeFailed = `The store failed for ${key}`
  const claim = await mustSucceed('store_failed', storeFailed, () => store.claim(key, owner, leaseMs))
  if (claim === 'done') return 'duplicate'
  if (claim !== 'claimed')
    throw new HandlerError('handler_busy', `Another delivery for ${key} is being handled.`)
  let isCompleted = false
  try {
    return await run(async () => {
      await mustSucceed('store_failed', storeFailed, () => store.complete(key, owner))
      isCompleted = true
    })
  } finally {
    // If the release fails too, the claim expires. The first error is the one to report.
    if (!isCompleted)
      await mustSucceed('store_failed', storeFailed, () => store.release(key, owner)).catch(() => {})
  }
}

async function mustSucceed<T>(code: HandlerFault, what: string, call: () => T | Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new HandlerError(code, `${what}: ${reason}. The gateway delivers the notification again.`, cause)
  }
}

// The answer has the code only: messages may contain details of the merchant's program.
export function refuse(error: unknown, { onError = logError }: Pick<NotificationRules, 'onError'>): Response {
  const fault =
    error instanceof TollgateError
      ? error
      : new HandlerError('handler_failed', `The notification failed: ${String(error)}`, error)
  try {
    onError(fault)
  } catch {
    // A failing log must not change the answer.
  }
  return answer(httpOf(fault), fault.code)
}

const logError = (error: TollgateError) => console.error(`Tollgate notification: ${error.code}:`, error)

const formatStatus: Partial<Record<string, number>> = {
  notification_malformed: 400,
  method_not_allowed: 405,
  body_too_large: 413,
}

// 4xx for what the gateway did not send, 5xx for what it must send again.
function httpOf(error: TollgateError): number {
  if (error instanceof SignatureError) return 401
  if (error instanceof NotificationError) return formatStatus[error.code] ?? 500
  if (error instanceof UnavailableError) return 503
  return error.code === 'order_not_found' || error.code === 'handler_busy' ? 503 : 500
}

const answer = (status: number, outcome: string) =>
  new Response(JSON.stringify({ outcome }), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  })
