import { InvalidInputError, OutcomeUnknownError, UnavailableError } from './errors.ts'
import { type Amount, amountText, defaultCurrency, readMoney } from './money.ts'
import { type Hmac, hex, stringToSign, utf8 } from './signature.ts'
import { type Answer, type Limits, type MakeRequest, send, type Transport } from './transport.ts'
import { dateOf, textOf } from './values.ts'

/**
 * The state of a refund. `requested`, `pending` and `unknown` mean that it is on its way, `needs_action` that your operator
 * has to do something. Only `succeeded` means that the money went back. `failed` can still become `succeeded`.
 *
 * @example
 * const isOver = (state: RefundState) => state === 'succeeded' || state === 'failed'
 */
export type RefundState = 'requested' | 'pending' | 'unknown' | 'needs_action' | 'succeeded' | 'failed'

/**
 * A refund of a payment, or of a part of it: `amount`, decimal text in major units, or `amountMinor`, a whole number of
 * minor units.
 *
 * @example
 * const order: RefundOrder = { refundId: 'R-1042-1', invoiceId: 'AMA-1042', amount: '10.00', reason: 'One hat returned' }
 */
export type RefundOrder = {
  /**
   * Your own id of this refund: 1 to 64 letters, digits, `.`, `_` or `-`. Store it before you call `refund`: the same id
   * is never refunded twice.
   */
  refundId: string
  /** The id of the paid payment. */
  invoiceId: string
  /** Why, for your own records. The customer does not see it. */
  reason?: string | undefined
  /** The currency of the payment, for `amountMinor`; by default GHS. */
  currency?: string | undefined
} & ({ amount: string; amountMinor?: undefined } | { amount?: undefined; amountMinor: number | bigint })

/**
 * A refund as the gateway has it.
 *
 * @example
 * const { state, amountMinor } = await tollgate.refundStatus({ refundId: 'R-1042-1' })
 */
export type Refund = {
  /** Yours; null if your operator requested the refund. */
  refundId: string | null
  /** The gateway's reference of the refund. */
  reference: string
  amount: string
  amountMinor: number
  currency: string
  state: RefundState
  reason: string
  /** `payment`, or `surplus` and `fee` for money beyond the amount of the payment, which your operator refunds. */
  source: 'payment' | 'surplus' | 'fee' | (string & {})
  requestedAt: Date
  /** When the money went back; null until then. */
  succeededAt: Date | null
}

/**
 * The answer of `refund` and `refundStatus`.
 *
 * @example
 * const refund: RefundRecord = await tollgate.refund(order)
 */
export type RefundRecord = Refund & {
  invoiceId: string
  /** The gateway's reference of the payment. */
  paymentReference: string
  /** Why, in a sentence; may be empty. */
  stateReason: string
  /** `manual`: the provider has no refunds, so your operator returns the money by other means. */
  kind: 'provider' | 'manual' | (string & {})
  /** The answer as received, for keys that this version does not know. */
  raw: Record<string, unknown>
}

type Signer = { merchantKey: string; hmac: Hmac }

export async function refund(
  transport: Transport,
  { merchantKey, hmac }: Signer,
  order: RefundOrder,
  limits: Limits,
): Promise<RefundRecord> {
  const { refundId, invoiceId, reason, currency = defaultCurrency } = order
  if (typeof invoiceId !== 'string' || invoiceId === '')
    throw new InvalidInputError('invoiceId', 'is missing. Pass the id that you passed to initiate.')
  checkRefundId(refundId)
  const money = { total: order.amount, totalMinor: order.amountMinor } as Amount
  const amount = amountText(money, currency, 'amount')
  const secure_hash = hex(await hmac(stringToSign(merchantKey, { invoiceId, refundId, amount })))
  const fields = { merchant_key: merchantKey, invoice_id: invoiceId, refund_id: refundId, amount, reason }
  // The bytes are made once: every try sends the same ones.
  const body = utf8(JSON.stringify({ ...fields, secure_hash }))
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const request: MakeRequest = async () => ({
    path: '/v1/refunds',
    init: { method: 'POST', headers, body },
  })
  try {
    return readAnswer(await send(transport, request, limits), refundId)
  } catch (error) {
    throw error instanceof UnavailableError ? new OutcomeUnknownError(invoiceId, error, refundId) : error
  }
}

export async function checkRefund(
  transport: Transport,
  { merchantKey, hmac }: Signer,
  refundId: string,
  limits: Limits,
): Promise<RefundRecord> {
  checkRefundId(refundId)
  const secure_hash = hex(await hmac(stringToSign(merchantKey, { refundId })))
  const query = new URLSearchParams({ merchant_key: merchantKey, secure_hash })
  const request: MakeRequest = async () => ({
    path: `/v1/refunds/${refundId}?${query.toString()}`,
    init: { method: 'GET', headers: { accept: 'application/json' } },
  })
  return readAnswer(await send(transport, request, limits), refundId)
}

// It becomes a part of an address, so other characters are never sent.
function checkRefundId(refundId: unknown) {
  if (typeof refundId !== 'string' || !/^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/.test(refundId))
    throw new InvalidInputError(
      'refundId',
      'must be 1 to 64 letters, digits, . _ or -. Choose it yourself, and store it with the order.',
    )
}

function readAnswer({ body, requestId }: Answer, refundId: string): RefundRecord {
  const record = readRefundRecord(body)
  if (record?.refundId === refundId) return record
  throw new UnavailableError('The answer is not this refund.', { requestId })
}

// Of an answer, a notification or an event of the feed. Undefined if it is no refund.
export function readRefundRecord(raw: Record<string, unknown>): RefundRecord | undefined {
  const fields = readRefund(raw)
  const { invoice_id, tx_reference } = raw
  if (!fields || typeof invoice_id !== 'string' || typeof tx_reference !== 'string') return undefined
  return {
    ...fields,
    invoiceId: invoice_id,
    paymentReference: tx_reference,
    stateReason: textOf(raw.state_reason) ?? '',
    kind: textOf(raw.kind) ?? '',
    raw,
  }
}

const states: readonly unknown[] = ['requested', 'pending', 'unknown', 'needs_action', 'succeeded', 'failed']

const isRefundState = (value: unknown): value is RefundState => states.includes(value)

// The fields that a status record has, too.
export function readRefund(raw: Record<string, unknown>): Refund | undefined {
  const { refund_reference: reference, currency, state } = raw
  if (typeof reference !== 'string' || typeof currency !== 'string' || !isRefundState(state)) return undefined
  const money = readMoney(raw.amount, currency)
  const requestedAt = dateOf(raw.requested_at)
  if (!money || !requestedAt) return undefined
  return {
    refundId: textOf(raw.refund_id),
    reference,
    ...money,
    currency,
    state,
    reason: textOf(raw.reason) ?? '',
    source: textOf(raw.source) ?? 'payment',
    requestedAt,
    succeededAt: dateOf(raw.succeeded_at),
  }
}
