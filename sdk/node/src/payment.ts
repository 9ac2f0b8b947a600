import { InvalidInputError, UnavailableError } from './errors.ts'
import { readMoney } from './money.ts'
import { type Refund, readRefund } from './refund.ts'
import { type Hmac, hex, stringToSign } from './signature.ts'
import { type Answer, type Limits, type MakeRequest, send, type Transport } from './transport.ts'
import { dateOf, extraOf, textOf } from './values.ts'

/**
 * The status of a payment. Only `paid` means that money arrived. `failed` and `cancelled` can still become `paid`.
 *
 * @example
 * const isOver = (status: PaymentStatus) => status !== 'awaiting_payment'
 */
export type PaymentStatus = 'awaiting_payment' | 'paid' | 'cancelled' | 'failed'

/**
 * A payment as the gateway has it. Before you deliver, compare `amountMinor` and `currency` with your order.
 *
 * @example
 * const payment = await tollgate.status({ invoiceId: 'AMA-1042' })
 * const isPaid = payment.status === 'paid' && payment.amountMinor === 2500 && payment.currency === 'GHS'
 */
export type Payment = {
  status: PaymentStatus
  /** Why, mainly when failed; otherwise empty. */
  statusReason: string
  /** Yours. */
  invoiceId: string
  /** The gateway's reference. */
  reference: string
  /** The amount due as decimal text, such as `25.00`. */
  amount: string
  /** The amount due in minor units, such as `2500`. */
  amountMinor: number
  currency: string
  /** The amount that the provider charged; null until paid. */
  chargedMinor: number | null
  /** What the provider returned to the customer by itself so far, and by lost disputes; null if nothing was. */
  reversedMinor: number | null
  /** When the first money was returned, or null. The status stays `paid`. */
  reversedAt: Date | null
  /** What you refunded of the amount so far, by refunds that succeeded; null if no refund was requested. */
  refundedMinor: number | null
  /** All refunds, the oldest first. */
  refunds: Refund[]
  /** Such as `mtn_mobile_money` or `card`: how it was paid, or last tried. */
  paymentMethod: string | null
  /** The wallet or card, masked. */
  paymentInstrument: string | null
  /** The provider's reference. */
  paymentReference: string | null
  /** When it was paid; null until then. */
  paidAt: Date | null
  /** The time of this answer. */
  asAt: Date
  /** The time of the last change. */
  lastUpdated: Date
  description: string | null
  customer: {
    firstName: string | null
    lastName: string | null
    email: string | null
    phone: string | null
  }
  mode: 'test' | 'live'
  outlet: string | null
  /** Your own fields, and the gateway's such as `psp_response_code`. */
  extra: Record<string, string | null>
  /** The flat record as received, for keys that this version does not know. */
  raw: Record<string, unknown>
}

export async function checkStatus(
  transport: Transport,
  { merchantKey, hmac }: { merchantKey: string; hmac: Hmac },
  invoiceId: string,
  limits: Limits,
): Promise<Payment> {
  if (typeof invoiceId !== 'string' || invoiceId === '')
    throw new InvalidInputError('invoiceId', 'is missing. Pass the id that you passed to initiate.')
  const secure_hash = hex(await hmac(stringToSign(merchantKey, { invoiceId })))
  const query = new URLSearchParams({ merchant_key: merchantKey, invoice_id: invoiceId, secure_hash })
  const request: MakeRequest = async () => ({
    path: `/v1/gateway/json_status_chk?${query.toString()}`,
    init: { method: 'GET', headers: { accept: 'application/json' } },
  })
  return readPayment(await send(transport, request, limits), invoiceId)
}

function readPayment({ body, requestId }: Answer, invoiceId: string): Payment {
  const { [invoiceId]: keyed, ...record } = body
  const currency = String(record.currency)
  const text = (name: string) => textOf(record[name])
  const money = isStatus(record.status) && readMoney((keyed as typeof body | undefined)?.amount, currency)
  const [asAt, lastUpdated] = [dateOf(record.as_at), dateOf(record.last_updated)]
  if (record.invoice_id !== invoiceId || !money || !asAt || !lastUpdated)
    throw new UnavailableError('The answer is not a status record of this invoice.', { requestId })
  return {
    status: record.status as PaymentStatus,
    statusReason: text('status_reason') ?? '',
    invoiceId,
    reference: text('tx_reference') ?? '',
    ...money,
    currency,
    chargedMinor: readMoney(record.total_amount_charged, currency)?.amountMinor ?? null,
    reversedMinor: readMoney(record.reversed_amount, currency)?.amountMinor ?? null,
    reversedAt: dateOf(record.reversed_at),
    refundedMinor: readMoney(record.refunded_amount, currency)?.amountMinor ?? null,
    refunds: refundsOf(record.refunds),
    paymentMethod: text('payment_method'),
    paymentInstrument: text('payment_instrument'),
    paymentReference: text('payment_reference'),
    paidAt: dateOf(record.payment_time),
    asAt,
    lastUpdated,
    description: text('narration'),
    customer: {
      firstName: text('buyer_firstname'),
      lastName: text('buyer_lastname'),
      email: text('buyer_email'),
      phone: text('buyer_phone'),
    },
    mode: record.tran_type === 'live' ? 'live' : 'test',
    outlet: text('outlet'),
    extra: extraOf(record.extra),
    raw: record,
  }
}

const refundsOf = (list: unknown): Refund[] =>
  (Array.isArray(list) ? list : []).flatMap(one => readRefund(one as Record<string, unknown>) ?? [])

const statuses: readonly unknown[] = ['awaiting_payment', 'paid', 'cancelled', 'failed']

export const isStatus = (value: unknown): value is PaymentStatus => statuses.includes(value)
