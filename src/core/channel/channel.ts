import type { Mode } from '../mode.ts'
import type { Order } from './order.ts'
import type { Reply } from './reply.ts'
import type { TestEnding, Way } from './way.ts'
import type { OrderNews, Webhook } from './webhook.ts'

// What a channel speaks. A channel is a line to one provider; it serves one or more ways to pay. A new one is one new file
// in `channels/`, whose default export is this: what has to be known to open it, and how.
export type ChannelKind = {
  settings: readonly ChannelSetting[]
  // The settings that another business at the provider would have others of. Where one of them changes, an operator has to
  // confirm that the business is the same before open attempts go on. Without it, all that are secret.
  businessSettings?: readonly string[]
  // Opens no connection. A setting that is there but wrong is thrown, by its name.
  open(settings: ChannelSettings, tools: ChannelTools): Channel
}

// One of an account's credentials or choices. By command it is `name=value`, in the environment CHANNEL_NAME.
export type ChannelSetting = {
  name: string
  words: string // what it is and where it is found, for the operator
  isSecret?: boolean
  usual?: string // without it the setting has to be given
}
export type ChannelSettings = Readonly<Record<string, string | undefined>>

export type ChannelTools = {
  egress: Egress
  clock(): Date
  token: SharedToken
}

// The way out: providers that let in known addresses alone.
export type Egress = { address?: string; proxy?: string }

// A token that all nodes use, where a new one ends the one before. `refused` is the one that the provider did not take:
// it is made anew once, by one of all who ask.
export type SharedToken = (
  make: (signal: AbortSignal) => Promise<Token>,
  signal: AbortSignal,
  refused?: string,
) => Promise<string>
export type Token = { token: string; livesForMs: number }

// One account at a provider, opened.
export type Channel = {
  mode: Mode // test payments never reach a live account, nor the other way round
  account: string // the scope of the provider's references: within it one means one payment. Holds no credential.
  environment?: string // of the provider, where that is more than test and live: attempts of another one are not asked about
  startIsIdempotent: boolean // an order that is started twice is charged once, whatever became of the first
  visibleWithinMs: number // what the provider has taken is found when it is asked for, this late at the latest
  noMayTurnForMs: number // so long a no of the provider may still become a yes: it is asked about again
  pace?: Pace
  ways: readonly Way[]
  // Orders carry a callback address, and the provider takes it only if it is https.
  wantsHttpsCallbacks?: boolean
  // Where a tester plays the customer of an attempt, at the gateway's own address: a channel of test payments alone.
  testerPage?(attempt_id: string): string
  // What a tester gets by typing what, so that the page can offer each ending for one tap: a channel of test payments
  // that plays its provider.
  testEndings?: readonly TestEnding[]
  // What the provider knows an order by, in the form that it wants; stored with the attempt before anything leaves. Without
  // it, the attempt_id.
  newKey?(attempt_id: string): string
  // What the provider's answers call an order, where that is not its key.
  nameOf?(order: Order): string
  // The signal says that nobody waits for the answer any more: what still hangs on the line hangs up. Whatever is thrown
  // here is no answer, and asked for again.
  start(order: Order, signal: AbortSignal): Promise<Reply>
  check(order: Order, signal: AbortSignal): Promise<Reply>
  // Carries on what the customer typed at a step that the provider has asked for. It is not repeated: where the answer is
  // lost, `check` tells whether the step is still open.
  submit?(
    order: Order,
    step: string,
    typed: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Reply>
  // Asks the provider to withdraw what nobody has answered yet, and says how the order then stands, as `check` does. Asked
  // again it does no harm. A provider that has no such verb goes without.
  giveUp?(order: Order, signal: AbortSignal): Promise<Reply>
  // What came in at the account's address: the orders that it is about, or undefined when it is not the provider's.
  hear?(webhook: Webhook): readonly OrderNews[] | undefined
  // Asks the provider whether the settings are good, without charging anybody.
  test?(signal: AbortSignal): Promise<ChannelTest>
}

// How the provider wants to be asked. Each has a usual value, see core/payment/pollSchedule.ts and runtime/channels.
export type Pace = {
  firstLookMs?: number // after the start was answered
  gapsMs?: readonly number[] // between looks; the last one stays
  startWithinMs?: number // then nobody waits for the answer to a start or a step
  askWithinMs?: number
  perSecond?: number // calls of all nodes together
  asksPerSecond?: number // the same, of questions only: where the provider limits those and not orders
}

// `notAsked`: the provider could not be reached, which says nothing of the settings.
export type ChannelTest = { isGood: boolean; words: string; notAsked?: true }
