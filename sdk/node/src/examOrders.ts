import type { Tollgate } from './client.ts'
import { SignatureError, TollgateError } from './errors.ts'
import type { NotificationHeaders, RawBody } from './notification.ts'
import { parseObject } from './transport.ts'

/**
 * An order that the exam asks your shop to store.
 *
 * @example
 * createOrder: ({ invoiceId, total, currency }) => orders.insert({ id: invoiceId, total, currency })
 */
export type ExamOrder = {
  invoiceId: string
  total: string
  currency: string
  /** Your notification endpoint, for `ipnUrl` of `initiate`. */
  ipnUrl: string
}

/**
 * What the exam reads about an order of your shop.
 *
 * @example
 * readOrder: async id => ({ status: await stateOf(id), deliveries: await parcelsSentFor(id) })
 */
export type ExamOrderState = {
  /** Your own word for the state of the order. The exam only looks whether it changes. */
  status: string
  /** How often the order was delivered: parcels, mails, licence keys. */
  deliveries: number
}

/**
 * How the exam creates and reads orders of your shop.
 *
 * @example
 * const rules: ExamRules = {
 *   createOrder: order => placeOrder(order), // store it as your shop does, and call tollgate.initiate
 *   readOrder: invoiceId => orders.get(invoiceId),
 * }
 */
export type ExamRules = {
  /** Stores an order as your shop does when a customer buys, and, if it can, requests its payment by `initiate`. */
  createOrder(order: ExamOrder): unknown
  readOrder(invoiceId: string): ExamOrderState | null | undefined | Promise<ExamOrderState | null | undefined>
}

/**
 * Makes the endpoint by which the exam of `@tollgate/merchant` creates and reads orders of your shop. It answers only
 * requests that are signed with your signing secret. Use it in tests only.
 *
 * @example
 * const exam = examOrders(tollgate, { createOrder, readOrder })
 * if (new URL(request.url).pathname === '/exam') return exam(request)
 */
export function examOrders(
  tollgate: Pick<Tollgate, 'verifyNotification'>,
  rules: ExamRules,
): (request: Request) => Promise<Response> {
  return async request => answerExam(tollgate, rules, await request.text(), request.headers)
}

export async function answerExam(
  tollgate: Pick<Tollgate, 'verifyNotification'>,
  { createOrder, readOrder }: ExamRules,
  rawBody: RawBody,
  headers: NotificationHeaders,
): Promise<Response> {
  try {
    await tollgate.verifyNotification(rawBody, headers)
    const text = typeof rawBody === 'string' ? rawBody : new TextDecoder().decode(rawBody)
    const { exam, invoice_id, total, currency, ipn_url } = parseObject(text) ?? {}
    const invoiceId = String(invoice_id)
    if (exam === 'create_order') {
      const order = { invoiceId, total: String(total), currency: String(currency), ipnUrl: String(ipn_url) }
      await createOrder(order)
      return json(200, { created: invoiceId })
    }
    if (exam !== 'read_order') return json(400, { error: 'exam must be create_order or read_order' })
    const state = await readOrder(invoiceId)
    if (!state) return json(404, { error: `There is no order ${invoiceId}.` })
    return json(200, { status: state.status, deliveries: state.deliveries })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return json(error instanceof SignatureError ? 401 : 500, {
      error: error instanceof TollgateError ? `${error.code}: ${message}` : message,
    })
  }
}

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
