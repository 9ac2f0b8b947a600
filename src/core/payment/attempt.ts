import type { Reason } from '../provider/reason.ts'
import type { Step } from '../provider/paymentMethod.ts'
import type { Mode } from '../mode.ts'

// One go at paying a payment through one account at a provider. `unknown` is not `failed`: it is asked about until the
// provider knows. `not_sent`: for certain nothing has left us, so it may be sent on any provider. `needs_input`: the
// provider waits for something that the customer has to type, see `step`. `disputed`: the provider says yes
// to another amount, or by a reference that has paid another attempt, which a person must look at.
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

// What a customer who gives an attempt up goes on to: the same way with another number, or another way.
export const gaveUpFor = ['number', 'method'] as const
export type GaveUpFor = (typeof gaveUpFor)[number]

export type Attempt = {
  merchant_id: string
  attempt_id: string // begins with the merchant's id, as a token does
  tx_reference: string
  number: number // 1, 2, 3 of its payment: a form carries the next one, so that a double click is one attempt
  provider_account: string // the name of the account that it goes through
  mode: Mode | null // of the payment; null only in rows that were written by hand
  account_identity: string | null // the provider's environment and business behind that name; null if it has none
  idempotency_key: string | null // what the provider knows it by; null: the attempt_id
  payment_method: string
  state: AttemptState
  reason: Reason | null
  instrument: string | null // a wallet's number (E.164), or what the provider told of a card, masked
  payer: string | null // who asked, as a digest of the address: to count, not to know
  lang: string | null // of the page that it was started on; messages speak it
  given: Record<string, string> // what the customer gave, and the language; until the attempt ends
  provider_ref: string | null
  redirect_url: string | null
  qr: string | null
  step: Step | null // what the customer has to type next
  provider_text: string | null // for the customer
  charged: bigint | null // what the provider says that it took
  fee: bigint | null // of it, as the provider says
  net: bigint | null // what the merchant gets of it
  provider_time: Date | null // of the provider's clock
  card_type: string | null
  psp_response_code: string | null
  psp_response_msg: string | null
  provider_code: string | null // the provider's raw code, for operators
  declined_at: Date | null // a card was declined on the provider's page, which is still open
  check_reversals: boolean // a webhook named a refund or a dispute: the next question reads them
  acknowledged_at: Date | null // since then the provider has shown that it has it
  sends: number // how often it was handed to the provider
  resent_at: Date | null // sent once more, although it may have arrived before
  submits: number // how often the customer has typed what a step asked for
  submitted_at: Date | null
  returned_at: Date | null // when the customer last came back from the provider's page and made us ask
  gave_up_at: Date | null // when the customer wished to go on without it
  gave_up_for: GaveUpFor | null
  polls: number
  next_poll_at: Date | null
  created_at: Date
  updated_at: Date
  ended_at: Date | null
}

export const isUnresolved = ({ state }: Pick<Attempt, 'state'>) => state !== 'paid' && state !== 'failed'

// The provider has shown, by whatever answer, that it has the order.
export const isAcknowledged = ({ state, acknowledged_at }: Pick<Attempt, 'state' | 'acknowledged_at'>) =>
  acknowledged_at !== null || shown.has(state)

const shown: ReadonlySet<AttemptState> = new Set(['pending', 'needs_input', 'disputed', 'paid'])

export const idempotencyKeyOf = ({
  idempotency_key,
  attempt_id,
}: Pick<Attempt, 'idempotency_key' | 'attempt_id'>) => idempotency_key ?? attempt_id

type Sent = Pick<Attempt, 'created_at' | 'resent_at' | 'submitted_at'>

// When the last thing was sent: what the customer typed at a step, the order again, or the order.
export const sentAt = ({ created_at, resent_at, submitted_at }: Sent): Date =>
  submitted_at ?? resent_at ?? created_at

// After this moment nobody can approve what was sent: the prompt, the page or the code has expired.
export const requestEndsAt = (attempt: Sent, lifetimeMs: number): Date =>
  new Date(sentAt(attempt).getTime() + lifetimeMs)
