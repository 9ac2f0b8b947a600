import type { Reason } from './reason.ts'
import type { Step } from './way.ts'

// Money that was paid went back: by the provider, or because the customer's bank took it.
export type Reversal = { kind: 'reversed' | 'charged_back'; words: string }

// What we made of a provider's answer. Only a plain yes or no is an ending: a word that we do not know, a timeout, a
// 5xx or silence is `unknown`; `acknowledged`, where it shows all the same that the provider has the order. `absent` is
// the provider's own word that it has no such order. A yes names the `order` that it is for, as the provider does, and
// the amount, or that the provider does not say it. `oddWord`: what the provider said that we do not know, without what
// is private. `restMs`: so long it wants to be left alone.
export type Reply =
  | ({ state: 'pending'; redirect_url?: string; qr?: string; step?: Step } & ReplyFacts)
  | ({
      state: 'paid'
      order: string
      amount: bigint | 'not_said'
      currency: string
      reversal?: Reversal
    } & ReplyFacts)
  | ({ state: 'failed'; reason: Reason } & ReplyFacts)
  | { state: 'unknown'; words: string; acknowledged?: boolean; oddWord?: string; restMs?: number }
  | { state: 'absent' }
  | NotSentReply

// For certain nothing of the order has left us, so nobody can have been charged: an answer to a start alone.
type NotSentReply = { state: 'not_sent'; words: string }

// The same, thrown, by whoever sends an order.
export class NotSent extends Error {}

// A reply that may be written down, see `understand`. `paid_oddly`: a yes to an amount that our books cannot hold.
// `other_order`: a yes that is not for the order that was asked about.
export type Heard =
  | Reply
  | ({ state: 'paid_oddly'; words: string } & ReplyFacts)
  | { state: 'other_order'; words: string }

// What a provider may tell beside it.
export type ReplyFacts = {
  provider_ref?: string
  instrument?: string // masked, when it was not the customer's ask
  card_type?: string
  psp_response_code?: string
  psp_response_msg?: string
  provider_time?: Date // when it happened, by the provider's clock
  fee?: bigint // in minor units of the order's currency; so is the next
  net?: bigint // what the merchant gets of it
  text?: string // for the customer
  oddWord?: string // the reason of a no that we do not know, without what is private
}
