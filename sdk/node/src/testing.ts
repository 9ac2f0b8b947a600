import { type Amount, decimalsOf, defaultCurrency, minorOf } from './money.ts'
import type { PaymentStatus } from './payment.ts'
import type { RefundState } from './refund.ts'
import { hmacWith, notificationKey, notificationSignature, utf8 } from './signature.ts'

export { type ExamOrder, type ExamOrderState, examOrders, type ExamRules } from './examOrders.ts'

/**
 * A payment for your tests.
 *
 * @example
 * const payment: TestPayment = { invoiceId: 'AMA-1042', total: '25.00', status: 'paid' }
 */
export type TestPayment = Amount & {
  invoiceId: string
  /** By default `paid`. */
  status?: PaymentStatus | undefined
  /** By default GHS. */
  currency?: string | undefined
  /** By default one made of the invoice id. */
  reference?: string | undefined
  statusReason?: string | undefined
  /** By default `mtn_mobile_money`. */
  paymentMethod?: string | undefined
  /** Refunds that the status check lists. */
  refunds?: readonly TestRefund[] | undefined
  /** Your own fields. */
  extra?: Readonly<Record<string, string>> | undefined
}

/**
 * A refund for your tests. Its currency is that of the payment.
 *
 * @example
 * const refund: TestRefund = { refundId: 'R-1', total: '10.00', state: 'succeeded' }
 */
export type TestRefund = Amount & {
  refundId: string
  /** By default `succeeded`. */
  state?: RefundState | undefined
  reason?: string | undefined
}

/**
 * How a test notification is signed and sent.
 *
 * @example
 * const old: TestDelivery = { ipnSecret: testIpnSecret, sentAt: new Date('2026-01-01') } // must be refused
 */
export type TestDelivery = {
  /** The signing secret that your program uses in the test. */
  ipnSecret: string
  /** Counts the notifications of the payment; by default 1. */
  sequence?: number | undefined
  /** The number of the try; by default 1. */
  attempt?: number | undefined
  /** By default now. An old time makes a copy that must be refused. */
  sentAt?: Date | undefined
}

/**
 * A signed notification: what the gateway would send.
 *
 * @example
 * const { rawBody, headers } = await signedNotification(payment, { ipnSecret })
 * const response = await fetch('http://127.0.0.1:3000/ipn', { method: 'POST', body: rawBody, headers })
 */
export type SignedNotification = {
  rawBody: string
  headers: Record<string, string>
  /** The same as a web `Request`. */
  request(url?: string): Request
}

/**
 * A signing secret for tests. It is public, so use it nowhere else.
 *
 * @example
 * createTollgate({ ...options, ipnSecret: testIpnSecret })
 */
export const testIpnSecret = 'whsec_YW4gZXhhbXBsZSwgbm90IGEgc2VjcmV0IGF0IGFsbCE='

/**
 * Makes a notification with a valid signature, for tests of your own endpoint.
 *
 * @example
 * const { request } = await signedNotification(
 *   { invoiceId: 'AMA-1042', total: '25.00' },
 *   { ipnSecret: testIpnSecret },
 * )
 * expect((await yourHandler(request())).status).toBe(200)
 */
export async function signedNotification(
  payment: TestPayment,
  delivery: TestDelivery,
): Promise<SignedNotification> {
  return signedBody(payment, notificationOf(payment), delivery)
}

/**
 * Makes a notification of a refund with a valid signature, for tests of your own endpoint.
 *
 * @example
 * const refund = { refundId: 'R-1', total: '10.00' }
 * const payment = { invoiceId: 'AMA-1042', total: '25.00', refunds: [refund] }
 * const { request } = await signedRefundNotification(payment, refund, { ipnSecret: testIpnSecret })
 */
export async function signedRefundNotification(
  payment: TestPayment,
  refund: TestRefund,
  delivery: TestDelivery,
): Promise<SignedNotification> {
  return signedBody(payment, refundNotificationOf(payment, refund), delivery)
}

async function signedBody(
  payment: TestPayment,
  body: unknown,
  { ipnSecret, sequence = 1, attempt = 1, sentAt = new Date() }: TestDelivery,
): Promise<SignedNotification> {
  const rawBody = JSON.stringify(body)
  const id = `${referenceOf(payment)}-N${sequence}`
  const timestamp = String(Math.floor(sentAt.getTime() / 1000))
  const hmac = hmacWith(notificationKey(ipnSecret))
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': await notificationSignature(hmac, id, timestamp, utf8(rawBody)),
    'webhook-attempt': String(attempt),
    'webhook-sequence': String(sequence),
  }
  const request = (url = 'https://shop.example/ipn') =>
    new Request(url, { method: 'POST', headers, body: rawBody })
  return { rawBody, headers, request }
}

/**
 * A `fetch` for tests without a gateway: it answers status checks for these payments, and 404 for any other.
 *
 * @example
 * const payments: TestPayment[] = [{ invoiceId: 'AMA-1042', total: '25.00' }]
 * const tollgate = createTollgate({ ...options, ipnSecret: testIpnSecret, fetch: fakeGateway(payments) })
 */
export function fakeGateway(payments: readonly TestPayment[]): typeof fetch {
  return async input => {
    const url = new URL(input instanceof Request ? input.url : input)
    const invoice = url.searchParams.get('invoice_id')
    const payment = payments.find(({ invoiceId }) => invoiceId === invoice)
    const isStatusCheck = url.pathname.endsWith('/v1/gateway/json_status_chk')
    return isStatusCheck && payment ? json(200, statusAnswer(payment)) : json(404, notFound)
  }
}

const requestId = 'req_test'

const notFound = {
  success: false,
  status: 'error',
  status_code: 404,
  message: 'invoice_id: no payment of this merchant has it',
  error: { code: 'GW-005', message: 'invoice_id: no payment of this merchant has it', field: 'invoice_id' },
  request_id: requestId,
}

const json = (status: number, body: unknown) =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'x-request-id': requestId },
  })

const referenceOf = ({ invoiceId, reference = `TG-TEST-${invoiceId}` }: TestPayment) => reference

const paidAt = '2026-03-02T09:30:00.000Z'

// The body of a notification.
export function notificationOf(payment: TestPayment): Record<string, unknown> & { amount: number } {
  const { invoiceId, status = 'paid', currency = defaultCurrency, statusReason = '' } = payment
  const { paymentMethod = 'mtn_mobile_money' } = payment
  return {
    invoice_id: invoiceId,
    tx_reference: referenceOf(payment),
    status,
    amount: minorOf(payment, currency) / 10 ** decimalsOf(currency),
    status_reason: statusReason,
    payment_method: paymentMethod,
    payment_time: status === 'paid' ? paidAt : null,
    invoice: invoiceId,
    currency,
    extra: {
      ...payment.extra,
      channel: paymentMethod,
      wallet_issuer_hint: null,
      email: null,
      mobile_no: null,
      Mobile_no: null,
      name: null,
      card_type: null,
      psp_response_code: null,
      psp_response_msg: null,
    },
  }
}

function refundOf({ invoiceId, currency = defaultCurrency }: TestPayment, refund: TestRefund) {
  const { state = 'succeeded', reason = '' } = refund
  return {
    refund_id: refund.refundId,
    refund_reference: `test-${invoiceId}-${refund.refundId}`,
    amount: minorOf(refund, currency) / 10 ** decimalsOf(currency),
    currency,
    state,
    reason,
    source: 'payment',
    requested_at: paidAt,
    succeeded_at: state === 'succeeded' ? paidAt : null,
  }
}

// The body of a notification of a refund. It has no status.
export const refundNotificationOf = (payment: TestPayment, refund: TestRefund): Record<string, unknown> => ({
  type: 'refund',
  ...refundOf(payment, refund),
  invoice_id: payment.invoiceId,
  tx_reference: referenceOf(payment),
  state_reason: '',
  kind: 'provider',
})

// The answer to a status check.
export function statusAnswer(payment: TestPayment): Record<string, unknown> {
  const { invoice: _invoice, ...shared } = notificationOf(payment)
  const asAt = new Date().toISOString()
  const refunds = (payment.refunds ?? []).map(refund => refundOf(payment, refund))
  const succeeded = refunds
    .filter(({ state }) => state === 'succeeded')
    .reduce((sum, { amount }) => sum + amount, 0)
  const record = {
    success: true,
    ...shared,
    gw_invoice_id: shared.tx_reference,
    payment_reference: null,
    total_amount_charged: shared.status === 'paid' ? shared.amount : null,
    service_fee: null,
    payment_instrument: null,
    reversed_at: null,
    reversed_amount: null,
    refunded_amount: refunds.length === 0 ? null : succeeded,
    refunds,
    as_at: asAt,
    last_updated: asAt,
    narration: null,
    buyer_firstname: null,
    buyer_lastname: null,
    buyer_email: null,
    buyer_phone: null,
    tran_type: 'test',
    outlet: null,
    client_ip: null,
    client_ip_location: null,
  }
  return { [payment.invoiceId]: { ...record, amount: shared.amount.toFixed(2) }, ...record }
}
