import type { Reason } from './reason.ts'
import type { Step } from './paymentMethod.ts'

// One refund of a charge, processed by the provider. `id` is the provider's, so that each is recorded once.
// `refund_reference`: the provider shows that it is this refund, so it is no reversal.
export type Reversal = { id: string; amount: bigint; words: string; at?: Date; refund_reference?: string }

// A dispute of a charge by the customer's bank. Opening one moves no money; a lost one does.
export type Dispute = {
  id: string
  state: DisputeState
  amount: bigint
  words: string
  due_at?: Date // evidence must be handed in before then
}
export type DisputeState = 'open' | 'won' | 'lost'

// A provider's reply as its module returns it. Only an explicit yes or no ends an attempt.
// - `pending`: the provider has the order, and the customer has not approved it yet.
// - `paid`: for the `order` that the provider names. `amount` is the amount of the order; `charged` is what the customer
//   paid in all if the provider added its fee. `reversals` and `disputes` are complete lists.
// - `paid_mismatch`: paid, but the amount is unreadable or too large to store.
// - `failed`: final. `isStartRefused`: the provider did not accept the order, which is final only after a single sending.
// - `declined`: a card was declined on the provider's page, and the customer may still try another one.
// - `unknown`: an unknown code, a timeout or a 5xx. `acknowledged`: it proves that the provider has the order.
//   `unknownCode`: the code, without private data. `restMs`: the provider asks for a pause. `isRefusal`: it refuses our
//   credentials or IP address (401, 403): no outage, an operator has to act.
// - `absent`: the provider answered that it has no such order.
// - `not_sent`: no byte of the order was sent, so the customer cannot have been charged. Only as a reply to a start.
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

type NotSentReply = { state: 'not_sent'; words: string; provider_code?: string; isRefusal?: true }

// Thrown instead of a `not_sent` reply by the code that sends an order.
export class NotSent extends Error {}

// Thrown if the provider refuses our credentials: see `isRefusal`. It may be the cause of a `NotSent`.
export class CredentialsRefused extends Error {}

// A reply after `sanitizeReply`. `other_order`: paid, but for another order than the one in question. `not_set_up`: the
// account of the attempt is not open on this node, or belongs to another business or mode now, so it was not called.
export type SanitizedReply =
  | Reply
  | { state: 'not_set_up'; words: string }
  | { state: 'other_order'; words: string }

// Further facts that a reply may contain.
export type ReplyFacts = {
  provider_ref?: string
  instrument?: string // masked; if it is not the customer's input
  card_type?: string
  psp_response_code?: string
  psp_response_msg?: string
  provider_code?: string // the raw code, for operators; cut at 100 characters
  isRepeatedCode?: boolean // set by the health monitor: several attempts got this unknown code
  provider_time?: Date // when it happened, by the provider's clock
  fee?: bigint // in minor units of the order's currency
  net?: bigint // what the merchant gets, likewise
  text?: string // for the customer
  unknownCode?: string // an unknown reason of a failure, without private data
}
