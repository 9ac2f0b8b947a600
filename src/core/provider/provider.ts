import type { Mode } from '../mode.ts'
import type { Order } from './order.ts'
import type { ProviderRefunds } from './refundOrder.ts'
import type { Reply } from './reply.ts'
import type { TestEnding, PaymentMethod } from './paymentMethod.ts'
import type { WebhookUpdate, Webhook } from './webhook.ts'

// The code for one payment provider, which serves one or more payment methods. To add one, add a file to `providers/` whose
// default export has this type.
export type Provider = {
  settings: readonly ProviderSetting[]
  // Settings that differ between two businesses at the provider. If one of them changes, an operator has to confirm that
  // the business is the same before open attempts continue. Default: all secret settings.
  businessSettings?: readonly string[]
  // Opens no connection. Throws if a setting is wrong, with the name of the setting.
  open(settings: ProviderSettings, tools: ProviderTools): ProviderAccount
}

// A setting of an account: `name=value` in a command, PROVIDER_NAME in the environment.
export type ProviderSetting = {
  name: string
  words: string // for the operator: what it is and where to find it
  french?: string // the same, for French pages
  isSecret?: boolean
  usual?: string // default value; without it the setting is required
}
export type ProviderSettings = Readonly<Record<string, string | undefined>>

export type ProviderTools = {
  egress: Egress
  clock(): Date
  token: SharedToken
}

// Source address and proxy, for providers that accept known IP addresses only.
export type Egress = { address?: string; proxy?: string }

// A token that all nodes share, for providers where a new token invalidates the former one. `refused`: the token that the
// provider refused. One node requests a new one, and all callers get that.
export type SharedToken = (
  make: (signal: AbortSignal) => Promise<Token>,
  signal: AbortSignal,
  refused?: string,
) => Promise<string>
export type Token = { token: string; lifetimeMs: number }

// An opened account at a provider.
export type ProviderAccount = {
  mode: Mode // test payments never reach a live account, and live payments never a test account
  account: string // the scope within which a reference of the provider means one payment. Contains no credential.
  environment?: string // of the provider, if it has more than test and live: attempts belong to one environment
  startIsIdempotent: boolean // an order that is sent twice is charged once, whatever happened to the first sending
  visibleWithinMs: number // after this time `check` finds every order that the provider has accepted
  failureMayReverseForMs: number // a failed order may still become paid for so long, so it is checked again
  timing?: ProviderTiming
  methods: readonly PaymentMethod[]
  requiresHttpsCallbacks?: boolean // the provider refuses orders whose callback address is not https
  // The page of the gateway where a tester plays the customer of an attempt. Test accounts only.
  testerPage?(attempt_id: string): string
  // Inputs that lead to certain outcomes, so that the checkout can offer each by one tap. Simulated providers only.
  testEndings?: readonly TestEnding[]
  // The provider's key for an order, in its format. It is stored with the attempt before the order is sent. Default: the
  // attempt_id.
  newIdempotencyKey?(attempt_id: string): string
  // What the provider's replies name the order by, if that is not its idempotency key.
  providerOrderId?(order: Order): string
  // The signal is aborted when no caller waits any more; requests under way should be aborted then. An error that is thrown
  // here counts as no reply, and the order is checked later.
  start(order: Order, signal: AbortSignal): Promise<Reply>
  check(order: Order, signal: AbortSignal): Promise<Reply>
  // Sends the customer's input for a step. It is never repeated: if the reply is lost, `check` returns whether the step is
  // still open.
  submit?(
    order: Order,
    step: string,
    input: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Reply>
  // Asks the provider to cancel an order that the customer has not approved yet, and returns its status as `check` does.
  // May be called repeatedly.
  giveUp?(order: Order, signal: AbortSignal): Promise<Reply>
  // Refunds by the provider. Undefined: it has no refund call, or the account is not set up for it.
  refunds?: ProviderRefunds
  refundTiming?: ProviderTiming // of the calls about refunds; default: timing
  // Returns the orders that a webhook is about, or undefined if the webhook is not from the provider.
  handleWebhook?(webhook: Webhook): readonly WebhookUpdate[] | undefined
  // Checks the settings at the provider without a charge.
  checkCredentials?(signal: AbortSignal): Promise<CredentialsCheck>
}

// Timing of the calls to a provider. The defaults are in core/payment/pollSchedule.ts and runtime/providers/guard.ts.
export type ProviderTiming = {
  firstPollMs?: number // after the reply to the start
  pollGapsMs?: readonly number[] // between polls; the last one repeats
  startTimeoutMs?: number // of starts and submissions
  pollTimeoutMs?: number
  callsPerSecond?: number // of all nodes together
  pollsPerSecond?: number // the same for status questions only, if the provider does not limit orders
}

// `unreachable`: the provider gave no usable answer, which proves nothing about the settings. `isForRefunds`: the settings
// for payments are valid, and only those for refunds are not.
export type CredentialsCheck = {
  isValid: boolean
  words: string
  unreachable?: true
  isForRefunds?: true
}
