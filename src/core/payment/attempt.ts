import type { Reason } from '../channel/reason.ts'

// One go at paying a payment through one channel. `unknown` is not `failed`: it is asked about until the provider
// knows. `not_sent`: for certain nothing has left us, so it may be sent on any channel. `disputed`: the provider says yes
// to another amount, or by a reference that has paid another attempt, which a person must look at.
export const attemptStates = [
  'started',
  'not_sent',
  'pending',
  'unknown',
  'disputed',
  'paid',
  'failed',
] as const
export type AttemptState = (typeof attemptStates)[number]

// What a customer who gives an attempt up goes on to: the same way with another number, or another way.
export const gaveUpFor = ['number', 'way'] as const
export type GaveUpFor = (typeof gaveUpFor)[number]

export type Attempt = {
  merchant_id: string
  attempt_id: string // begins with the merchant's id, as a token does
  tx_reference: string
  number: number // 1, 2, 3 of its payment: a form carries the next one, so that a double click is one attempt
  channel: string
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
  charged: bigint | null // what the provider says that it took
  card_type: string | null
  psp_response_code: string | null
  psp_response_msg: string | null
  acknowledged_at: Date | null // since then the provider has shown that it has it
  sends: number // how often it was handed to the channel
  resent_at: Date | null // sent once more, although it may have arrived before
  returned_at: Date | null // when the customer last came back from the provider's page and made us ask
  gave_up_at: Date | null // when the customer wished to go on without it
  gave_up_for: GaveUpFor | null
  asks: number
  next_ask_at: Date | null
  created_at: Date
  updated_at: Date
  ended_at: Date | null
}

export const isUnresolved = ({ state }: Pick<Attempt, 'state'>) => state !== 'paid' && state !== 'failed'

// The provider has shown, by whatever answer, that it has the order.
export const isAcknowledged = ({ state, acknowledged_at }: Pick<Attempt, 'state' | 'acknowledged_at'>) =>
  acknowledged_at !== null || state === 'pending' || state === 'disputed' || state === 'paid'

// From then on nobody can approve what was sent: the prompt, the page or the code is over.
export const requestEndsAt = (
  { created_at, resent_at }: Pick<Attempt, 'created_at' | 'resent_at'>,
  livesForMs: number,
): Date => new Date((resent_at ?? created_at).getTime() + livesForMs)
