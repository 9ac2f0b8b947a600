import type { Reason } from '../provider/reason.ts'
import type { Step } from '../provider/paymentMethod.ts'
import type { Mode } from '../mode.ts'
import type { Payment } from './payment.ts'

// One try to pay a payment through one provider account.
// `not_sent`: the order was certainly not sent, so it may be sent even if the provider does not deduplicate orders.
// `needs_input`: the provider waits for input of the customer, see `step`.
// `unknown`: no clear reply. It is not `failed`: the provider is polled until it gives one.
// `disputed`: the provider reports paid, but another amount, or by a reference that paid another attempt. An operator
// has to resolve it.
export const attemptStates = [
  'started',
  'not_sent',
  'pending',
  'needs_input',
  'unknown',
  'disputed',
  'paid',
  'failed',
] as const
export type AttemptState = (typeof attemptStates)[number]

// What a customer who gives up an attempt continues with: another number, or another payment method.
export const gaveUpFor = ['number', 'method'] as const
export type GaveUpFor = (typeof gaveUpFor)[number]

export type Attempt = {
  merchant_id: string
  attempt_id: string // starts with the merchant's id, as a token does
  tx_reference: string
  number: number // 1, 2, 3 of its payment; a form contains the next one, so that a double click is one attempt
  provider_account: string // the name of the account
  mode: Mode | null // of the payment; null only in rows written by hand
  account_identity: string | null // the provider's environment and business behind that name; null if it has none
  idempotency_key: string | null // the order id at the provider; null: the attempt_id
  payment_method: string
  state: AttemptState
  reason: Reason | null
  instrument: string | null // a wallet's number (E.164), or the provider's masked card number
  payer: string | null // a digest of the payer's network address: enough to count attempts, not to identify
  lang: string | null // of the page that started it; messages use it
  given: Record<string, string> // the customer's input and chosen language; removed when the attempt ends
  provider_ref: string | null
  redirect_url: string | null
  qr: string | null
  step: Step | null // the input that the provider waits for
  provider_text: string | null // for the customer
  charged: bigint | null // as the provider reports it
  charged_currency: string | null // the same; null: that of the payment
  fee: bigint | null // part of `charged`, as the provider reports it
  net: bigint | null // part of `charged` that the merchant gets
  provider_time: Date | null // by the provider's clock
  card_type: string | null
  psp_response_code: string | null
  psp_response_msg: string | null
  provider_code: string | null // the provider's raw code, for operators
  declined_at: Date | null // a card was declined on the provider's page, which is still open
  check_reversals: boolean // a webhook named a refund or a dispute: the next poll reads them
  acknowledged_at: Date | null // the first reply which showed that the provider has the order
  sends: number // how often the order was sent
  resent_at: Date | null // sent again although it may have arrived before
  submits: number // how often the customer submitted the input of a step
  submitted_at: Date | null
  returned_at: Date | null // when the customer's last return from the provider's page caused a poll
  gave_up_at: Date | null // when the customer chose to continue without it
  gave_up_for: GaveUpFor | null
  polls: number
  next_poll_at: Date | null
  created_at: Date
  updated_at: Date
  ended_at: Date | null
}

export const isUnresolved = ({ state }: Pick<Attempt, 'state'>) => state !== 'paid' && state !== 'failed'

// A reply has shown that the provider has the order.
export const isAcknowledged = ({ state, acknowledged_at }: Pick<Attempt, 'state' | 'acknowledged_at'>) =>
  acknowledged_at !== null || acknowledgedStates.has(state)

const acknowledgedStates: ReadonlySet<AttemptState> = new Set(['pending', 'needs_input', 'disputed', 'paid'])

export const idempotencyKeyOf = ({
  idempotency_key,
  attempt_id,
}: Pick<Attempt, 'idempotency_key' | 'attempt_id'>) => idempotency_key ?? attempt_id

type Sent = Pick<Attempt, 'created_at' | 'resent_at' | 'submitted_at'>

// When something was last sent to the provider: the input of a step, the order again, or the order.
export const sentAt = ({ created_at, resent_at, submitted_at }: Sent): Date =>
  submitted_at ?? resent_at ?? created_at

// After this moment the customer cannot approve the request any more: its prompt, page or code has expired.
export const requestEndsAt = (attempt: Sent, lifetimeMs: number): Date =>
  new Date(sentAt(attempt).getTime() + lifetimeMs)

export const resendForMs = 60_000 // a prompt that comes later would surprise the customer

type OpenPayment = Pick<Payment, 'status' | 'cancel_requested_at'>

// An order is sent again only while the customer may still be waiting to pay with this attempt.
export const isOverForSending = (
  payment: OpenPayment,
  { created_at, gave_up_at }: Pick<Attempt, 'created_at' | 'gave_up_at'>,
  now: Date,
) =>
  payment.status !== 'awaiting_payment' ||
  payment.cancel_requested_at !== null ||
  gave_up_at !== null ||
  now.getTime() - created_at.getTime() >= resendForMs

// An order is sent again only if that cannot charge the customer twice: it was certainly never sent, or the provider has
// not acknowledged it and deduplicates orders. In the second case it is sent again once.
export function maySendAgain(
  payment: OpenPayment,
  attempt: Attempt,
  startIsIdempotent: boolean,
  now: Date,
): boolean {
  if (!isUnresolved(attempt) || isAcknowledged(attempt)) return false
  if (isOverForSending(payment, attempt, now)) return false
  return attempt.state === 'not_sent' || (startIsIdempotent && attempt.resent_at === null)
}

// The attempt as it has to be stored before the order is sent. From then on, the order may have been sent.
export const sentAgain = (attempt: Attempt, now: Date): Attempt =>
  attempt.state === 'not_sent'
    ? { ...attempt, state: 'started', sends: attempt.sends + 1, updated_at: now }
    : { ...attempt, resent_at: now, sends: attempt.sends + 1, updated_at: now }

// The part of a paying charge above the total that is the provider's fee. The rest of it is a surplus.
export function feeBorneByCustomer(total: bigint, charged: bigint, fee: bigint | null): bigint {
  const above = charged > total ? charged - total : 0n
  return fee !== null && fee < above ? fee : above
}
