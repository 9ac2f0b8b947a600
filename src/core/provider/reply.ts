import type { Reason } from './reason.ts'
import type { Step } from './paymentMethod.ts'

// One refund of a charge, processed by the provider. `id` is the provider's, so that each is recorded once.
export type Reversal = { id: string; amount: bigint; words: string; at?: Date }

// A dispute of a charge by the customer's bank. Opening one moves no money; a lost one does.
export type Dispute = {
  id: string
  state: DisputeState
  amount: bigint
  words: string
  due_at?: Date // evidence must be handed in before then
}
export type DisputeState = 'open' | 'won' | 'lost'

// What we made of a provider's answer. Only a plain yes or no is an ending: a word that we do not know, a timeout, a
// 5xx or silence is `unknown`; `acknowledged`, where it shows all the same that the provider has the order. `absent` is
// the provider's own word that it has no such order. A yes names the `order` that it is for, as the provider does, and
// the amount, or that the provider does not say it. `unknownCode`: what the provider said that we do not know, without what
// is private. `restMs`: so long it wants to be left alone. `declined`: a card was declined on the provider's page, where
// the customer may still try another one. The amount of a `paid` is what the order asked for; `charged` is what the
// customer was charged in all, where the provider added its fee. `paid_mismatch`: the provider says paid, and its amount is
// unreadable or too large to store. `isStartRefused`: the provider refused to take the order; that is an ending only if
// this was its one sending. `isRefusal`: the provider refuses our credentials or our address (HTTP 401 or 403), which is no
// outage: an operator has to act. `reversals` and `disputes` are all that the provider has of the charge.
export type Reply =
  | ({ state: 'pending'; redirect_url?: string; qr?: string; step?: Step } & ReplyFacts)
  | ({
      state: 'paid'
      order: string
      amount: bigint | 'not_said'
      currency: string
      charged?: bigint
      reversals?: readonly Reversal[]
      disputes?: readonly Dispute[]
    } & ReplyFacts)
  | ({ state: 'paid_mismatch'; order: string; words: string } & ReplyFacts)
  | ({ state: 'failed'; reason: Reason; isStartRefused?: boolean } & ReplyFacts)
  | ({ state: 'declined'; reason: Reason } & ReplyFacts)
  | {
      state: 'unknown'
      words: string
      acknowledged?: boolean
      unknownCode?: string
      provider_code?: string
      isRepeatedCode?: boolean
      restMs?: number
      isRefusal?: true
    }
  | { state: 'absent' }
  | NotSentReply

// For certain nothing of the order has left us, so nobody can have been charged: an answer to a start alone.
type NotSentReply = { state: 'not_sent'; words: string; provider_code?: string; isRefusal?: true }

// The same, thrown, by whoever sends an order.
export class NotSent extends Error {}

// Thrown where the provider refuses our credentials: see `isRefusal`. It may be the cause of a `NotSent`.
export class CredentialsRefused extends Error {}

// A sanitized reply, see `understand`.
// `other_order`: paid, but for another order than the one that was asked about. `not_set_up`: the account that the attempt
// was sent to is not open here, or is now another business's or another mode's, so the provider was not asked.
export type SanitizedReply =
  | Reply
  | { state: 'not_set_up'; words: string }
  | { state: 'other_order'; words: string }

// What a provider may tell beside it.
export type ReplyFacts = {
  provider_ref?: string
  instrument?: string // masked, when it was not the customer's ask
  card_type?: string
  psp_response_code?: string
  psp_response_msg?: string
  provider_code?: string // the raw code, for operators; cut at 100 characters
  isRepeatedCode?: boolean // set by the account guard: an unknown code that was seen several times
  provider_time?: Date // when it happened, by the provider's clock
  fee?: bigint // in minor units of the order's currency; so is the next
  net?: bigint // what the merchant gets of it
  text?: string // for the customer
  unknownCode?: string // the reason of a no that we do not know, without what is private
}
