import type { Mode } from '../mode.ts'
import type { Currency } from '../money.ts'
import type { Network, Numbers } from '../phone.ts'
import type { Reason } from './reason.ts'

// What a channel speaks. A channel is a line to one provider; it serves one or more ways to pay. A new channel is
// one new file in `channels/`, whose default export makes it from its settings, or nothing without them.
export type Channel = {
  mode: Mode // test payments never reach a live channel, nor the other way round
  account: string // which account at which provider: within it a provider's reference means one payment. It stays.
  startIsIdempotent: boolean // an order that is started twice is charged once, whatever became of the first
  visibleWithinMs: number // what the provider has taken is found when it is asked for, this late at the latest
  ways: readonly Way[]
  // Where a tester plays the customer of an attempt, at the gateway's own address: a channel of test payments alone.
  testerPage?(attempt_id: string): string
  // What a tester gets by typing what, so that the page can offer each ending for one tap: a channel of test payments
  // that plays its provider.
  testEndings?: readonly TestEnding[]
  // What the provider's answers call an order, where that is not its attempt_id.
  nameOf?(order: Order): string
  // The signal says that nobody waits for the answer any more: what still hangs on the line hangs up. Whatever is thrown
  // here is no answer, and asked for again.
  start(order: Order, signal: AbortSignal): Promise<Reply>
  check(order: Order, signal: AbortSignal): Promise<Reply>
  // Asks the provider to withdraw what nobody has answered yet, and says how the order then stands, as `check` does. Asked
  // again it does no harm. A provider that has no such verb goes without.
  giveUp?(order: Order, signal: AbortSignal): Promise<Reply>
}

export type MakeChannel = (settings: ChannelSettings) => Channel | undefined
export type ChannelSettings = Readonly<Record<string, string | undefined>>

export type TestEnding = {
  name: 'paid' | 'declined' | 'no_money' | 'no_answer' | 'late' | 'wrong_amount'
  payment_method: string
  typed: Readonly<Record<string, string>> // by the name of the field
}

// One row of "How would you like to pay?".
export type Way = {
  payment_method: string // on the wire: mtn_mobile_money, card, ...
  label: string // a name, so the same in every language
  badge: { text: string; background: string; ink: string }
  currencies: readonly Currency[]
  fields: readonly FormField[]
  next: 'prompt' | 'redirect' | 'qr' // on the phone, on the provider's page, or by a code to scan
  livesForMs: number // so long the customer may still pay what was sent: the prompt, the page, the code
  network?: Network // whose numbers are guessed to be this way's
  numbers?: Numbers // that can have such a wallet, ported ones among them; without it, any
  dial?: { code: string; steps?: string } // how to find a prompt that did not show by itself
  settlesLater?: boolean // the customer leaves by deferred_url
}

// What a way wants to know of the customer; it draws itself on the page. Its words stand in the language files
// under its name, or come along here.
export type FormField = {
  name: string // of the form field
  kind: 'phone' | 'digits' | 'text'
  maxLength?: number
  optional?: boolean
  words?: Readonly<Record<string, { label: string; hint?: string }>> // by language, at least en
}

// What a channel is told of an attempt. `attempt_id`, or something made from it, is the provider's idempotency key where
// it knows one.
export type Order = {
  attempt_id: string
  tx_reference: string
  invoice_id: string
  payment_method: string
  amount: bigint
  currency: Currency
  given: Readonly<Record<string, string>> // by the name of the ask; a phone is E.164
  merchant_name: string
  description: string | null
  provider_ref: string | null // as we keep it: see core/stranger.ts
  callback_url: string // the provider may knock here; then we ask
  return_url: string // where the provider's page sends the customer back to
  lang?: string // of the page that the customer came from: the provider's own may speak it
}

// What we made of a provider's answer. Only a plain yes or no is an ending: a word that we do not know, a timeout, a
// 5xx or silence is `unknown`; `acknowledged`, where it shows all the same that the provider has the order. `absent` is
// the provider's own word that it has no such order. A yes names the `order` that it is for, as the provider does.
export type Reply =
  | ({ state: 'pending'; redirect_url?: string; qr?: string } & ReplyFacts)
  | ({ state: 'paid'; order: string; amount: bigint; currency: string } & ReplyFacts)
  | ({ state: 'failed'; reason: Reason } & ReplyFacts)
  | { state: 'unknown'; words: string; acknowledged?: boolean }
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
}
