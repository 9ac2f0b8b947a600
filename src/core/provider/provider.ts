import type { Mode } from '../mode.ts'
import type { Order } from './order.ts'
import type { Reply } from './reply.ts'
import type { TestEnding, PaymentMethod } from './paymentMethod.ts'
import type { WebhookUpdate, Webhook } from './webhook.ts'

// The module of one payment provider: a file in `providers/` whose default export is this. It names the settings of an
// account and opens one.
export type Provider = {
  settings: readonly ProviderSetting[]
  // The settings that another business at the provider would have others of. Where one of them changes, an operator has to
  // confirm that the business is the same before open attempts go on. Without it, all that are secret.
  businessSettings?: readonly string[]
  // Opens no connection. A setting that is there but wrong is thrown, by its name.
  open(settings: ProviderSettings, tools: ProviderTools): ProviderAccount
}

// One of an account's credentials or choices. By command it is `name=value`, in the environment PROVIDER_NAME, such as ACME_KEY.
export type ProviderSetting = {
  name: string
  words: string // what it is and where it is found, for the operator
  isSecret?: boolean
  usual?: string // without it the setting has to be given
}
export type ProviderSettings = Readonly<Record<string, string | undefined>>

export type ProviderTools = {
  egress: Egress
  clock(): Date
  token: SharedToken
}

// Local address and proxy of requests, for providers that only accept known addresses.
export type Egress = { address?: string; proxy?: string }

// A token that all nodes use, where a new one ends the one before. `refused` is the one that the provider did not take:
// it is made anew once, by one of all who ask.
export type SharedToken = (
  make: (signal: AbortSignal) => Promise<Token>,
  signal: AbortSignal,
  refused?: string,
) => Promise<string>
export type Token = { token: string; lifetimeMs: number }

// One account at a provider, opened.
export type ProviderAccount = {
  mode: Mode // test payments never reach a live account, nor the other way round
  account: string // the scope of the provider's references: within it one means one payment. Holds no credential.
  environment?: string // of the provider, where that is more than test and live: attempts of another one are not asked about
  startIsIdempotent: boolean // an order that is started twice is charged once, whatever became of the first
  visibleWithinMs: number // what the provider has taken is found when it is asked for, this late at the latest
  failureMayReverseForMs: number // so long a no of the provider may still become a yes: it is asked about again
  timing?: ProviderTiming
  methods: readonly PaymentMethod[]
  // Orders carry a callback address, and the provider takes it only if it is https.
  requiresHttpsCallbacks?: boolean
  // Where a tester plays the customer of an attempt, at the gateway's own address. Only in test mode.
  testerPage?(attempt_id: string): string
  // The outcomes of a simulated provider and the input that leads to each, so that the page can offer them as buttons.
  // Only in test mode.
  testEndings?: readonly TestEnding[]
  // What the provider knows an order by, in the form that it wants; stored with the attempt before anything leaves. Without
  // it, the attempt_id.
  newIdempotencyKey?(attempt_id: string): string
  // What the provider's answers call an order, where that is not its key.
  providerOrderId?(order: Order): string
  // The signal says that nobody waits for the answer any more: what still hangs on the line hangs up. Whatever is thrown
  // here is no answer, and asked for again.
  start(order: Order, signal: AbortSignal): Promise<Reply>
  check(order: Order, signal: AbortSignal): Promise<Reply>
  // Carries on what the customer typed at a step that the provider has asked for. It is not repeated: where the answer is
  // lost, `check` tells whether the step is still open.
  submit?(
    order: Order,
    step: string,
    input: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Reply>
  // Asks the provider to withdraw what nobody has answered yet, and says how the order then stands, as `check` does. Asked
  // again it does no harm. A provider that has no such verb goes without.
  giveUp?(order: Order, signal: AbortSignal): Promise<Reply>
  // What came in at the account's address: the orders that it is about, or undefined when it is not the provider's.
  handleWebhook?(webhook: Webhook): readonly WebhookUpdate[] | undefined
  // Asks the provider whether the settings are good, without charging anybody.
  checkCredentials?(signal: AbortSignal): Promise<CredentialsCheck>
}

// How the provider wants to be asked. Each has a usual value, see core/payment/pollSchedule.ts and runtime/providers.
export type ProviderTiming = {
  firstPollMs?: number // after the start was answered
  pollGapsMs?: readonly number[] // between looks; the last one stays
  startTimeoutMs?: number // then nobody waits for the answer to a start or a step
  pollTimeoutMs?: number
  callsPerSecond?: number // calls of all nodes together
  pollsPerSecond?: number // the same, of questions only: where the provider limits those and not orders
}

// `notAsked`: the provider could not be reached, which says nothing of the settings.
export type CredentialsCheck = { isValid: boolean; words: string; unreachable?: true }
