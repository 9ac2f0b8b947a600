import {
  type Breaker,
  type CallOutcome,
  type CircuitState,
  circuitStateOf,
  newBreaker,
  pauseBreaker,
  recordOutcome,
  type Verb,
  whyBlocked,
} from '../../core/provider/circuitBreaker.ts'
import {
  type AccountHealth,
  type CallCounts,
  type CallWindow,
  type CountedEvent,
  countedOutcome,
  countEvent,
  countsOf,
  healthByBreaker,
  healthOf,
  sumCounts,
  worseHealth,
} from '../../core/provider/health.ts'
import { maskNumbers } from '../../core/mask.ts'
import type { Mode } from '../../core/mode.ts'
import type { StatusUpdate } from '../../core/payment/change.ts'
import type { Order } from '../../core/provider/order.ts'
import type { ProviderAccount, ProviderTiming } from '../../core/provider/provider.ts'
import type { ReplyFacts, SanitizedReply } from '../../core/provider/reply.ts'
import { type CodeCount, countCode, maskedSample, nothingCounted } from '../../core/provider/unknownCode.ts'
import { createRateLimiter, type WaitForTurn } from './rateLimiter.ts'

// Health of the provider accounts, as this node sees it. Every call to a provider passes the monitor of its account:
// before the call the circuit breaker may block it and the rate limiter may delay it; after the call its outcome is
// recorded in the breaker and counted in the window of its payment method. The health of a method is the worse one of
// what the breaker says and what the counts of this node and of the other nodes say. The pure rules are in
// core/provider/health.ts and core/provider/circuitBreaker.ts; actions/providers/health.ts exchanges counts with the
// other nodes, probes open breakers and raises tasks.

const mostMethods = 50 // of one account
const mostSamples = 10 // of unknown codes, of one method
const mostCodes = 20 // that are counted, of one method
const maxError = 200 // characters
const otherNodeMs = 60_000 // counts of another node are used for this long

export type CallSubject = Pick<Order, 'attempt_id' | 'payment_method'>

export type CallResult = { reply: SanitizedReply; delayMs: number; timeoutMs: number }

// A call as the metrics count it. `put_off`: it was blocked before it was sent.
export type ObservedCall = {
  account: string
  payment_method: string
  verb: Verb
  outcome: CallOutcome | 'not_sent' | 'put_off'
  delayMs: number
  hasUnknownCode: boolean
}

// Why the last call was not answered. `isRefusal`: the provider refused our credentials. Times are monotonic.
type CallError = { words: string; isRefusal: boolean; at: number }

type MethodState = {
  readonly account: string
  readonly payment_method: string
  window: CallWindow
  seenAt: number
  answeredAt: number | null
  paidAt: number | null
  lastError: CallError | null // null after an answer
  unknownCodes: Map<string, number> // by masked sample
  codeCounts: Map<string, CodeCount>
  changes: number
  savedChanges: number
}

export type MethodHealth = Readonly<MethodState> & { counts: CallCounts }

// The provider refuses the credentials of an account since this attempt, or accepts them again.
export type CredentialsChange = { account: string; refused?: { words: string; attempt_id: string } }

export type OtherNodeHealth = { account: string; payment_method: string; counts: CallCounts; agoMs: number }

export type HealthMonitorOptions = {
  nodes?(): number // running nodes, this one included
  watch?(call: ObservedCall): void
  monotonicMs?(): number
}

export class AccountMonitor {
  readonly account: string
  waitForTurn: WaitForTurn | undefined // undefined: the account has no rate limit
  credentialsChange: CredentialsChange | undefined // not stored yet
  readonly #methods = new Map<string, MethodState>()
  readonly #options: Required<HealthMonitorOptions>
  readonly #otherNodes = new Map<string, { counts: CallCounts; until: number }[]>()
  #breaker: Breaker = newBreaker
  #credentials: 'untried' | 'accepted' | 'refused' = 'untried'
  #mode: Mode | undefined
  #isSimulated = false // a tester chooses the failures, so they say nothing about the account

  constructor(account: string, options: Required<HealthMonitorOptions>) {
    this.account = account
    this.#options = options
  }

  // Called each time the account is opened. Counts and breaker stay.
  configure({ mode, timing = {}, testEndings }: Pick<ProviderAccount, 'mode' | 'timing' | 'testEndings'>) {
    this.#mode = mode
    this.#isSimulated = mode === 'test' && testEndings !== undefined
    this.waitForTurn = rateLimitOf(timing, this.#options)
  }

  health(payment_method: string): AccountHealth {
    const now = this.#now()
    const otherNodes = this.#otherNodes.get(payment_method)?.filter(({ until }) => now < until) ?? []
    const own = countsOf(this.#methods.get(payment_method)?.window ?? [], now)
    const counts = sumCounts([own, ...otherNodes.map(one => one.counts)])
    return worseHealth(healthByBreaker(this.#breaker, now), healthOf(counts))
  }

  circuitState = (): CircuitState => circuitStateOf(this.#breaker, this.#now())
  whyBlocked = (verb: Verb) => whyBlocked(this.#breaker, verb, this.#now())
  isRefused = () => this.#credentials === 'refused'
  isAwaitingProbe = () => this.circuitState() === 'probing' && this.whyBlocked('start') === undefined
  pauseMs = () => Math.max(0, this.#breaker.pausedUntil - this.#now())
  pause(pauseMs: number) {
    this.#breaker = pauseBreaker(this.#breaker, pauseMs, this.#now())
  }

  // The call was blocked before it was sent.
  postpone(verb: Verb, called: CallSubject) {
    this.#observe(verb, called, 'put_off')
  }

  // Returns the function that takes the result of the call, undefined if it was not sent, and returns the reply to pass on.
  // Without `judgesAccount` the result changes neither the breaker nor the health, and pauses nothing.
  begin(verb: Verb, called: CallSubject, judgesAccount = true) {
    const recordCall = this.trackCall(verb, called.attempt_id)
    return (result: CallResult | undefined): SanitizedReply | undefined => {
      if (result && judgesAccount) this.#judge(called, result, recordCall)
      else recordCall(undefined)
      if (result) return this.#inspectReply(verb, called, result)
      this.postpone(verb, called)
      return undefined
    }
  }

  // Registers a call with the breaker. The returned function takes its outcome, undefined if the account is not judged by
  // it. An order that is sent while the breaker is not closed is a probe. When the breaker closes, all counts are reset.
  trackCall(verb: Verb, order: string) {
    const probe = verb === 'start' && this.circuitState() !== 'closed' ? 1 : 0
    this.#breaker = { ...this.#breaker, probes: this.#breaker.probes + probe }
    return (outcome: CallOutcome | undefined) => {
      const before = { ...this.#breaker, probes: Math.max(0, this.#breaker.probes - probe) }
      const after = outcome ? recordOutcome(before, { verb, order }, outcome, this.#now()) : before
      this.#breaker = after
      if (before.openUntil !== null && after.openUntil === null)
        for (const method of this.#methods.values()) method.window = []
    }
  }

  count(payment_method: string, event: CountedEvent) {
    const method = this.#method(payment_method)
    const now = this.#now()
    method.window = countEvent(method.window, event, now)
    if (event.what === 'answered') method.answeredAt = now
    if (event.what === 'paid') method.paidAt = now
    method.changes++
  }

  countUnknownCode(payment_method: string, code: string) {
    const { unknownCodes } = this.#method(payment_method)
    const sample = maskedSample(code)
    const name = unknownCodes.has(sample) || unknownCodes.size < mostSamples ? sample : 'others'
    unknownCodes.set(name, (unknownCodes.get(name) ?? 0) + 1)
  }

  // An attempt got its outcome. A failure of a test payment says nothing about the account.
  countAttempt({ payment_method, state, reason }: StatusUpdate['attempt']) {
    const what = countedOutcome(state, reason)
    if (what && (what === 'paid' || this.#mode !== 'test')) this.count(payment_method, { what })
  }

  clearOtherNodes() {
    this.#otherNodes.clear()
  }

  addOtherNode({ payment_method, counts, agoMs }: OtherNodeHealth) {
    const before = this.#otherNodes.get(payment_method) ?? []
    const until = this.#now() + otherNodeMs - agoMs
    this.#otherNodes.set(payment_method, [...before, { counts, until }])
  }

  methods(): MethodHealth[] {
    const now = this.#now()
    return [...this.#methods.values()].map(method => ({ ...method, counts: countsOf(method.window, now) }))
  }

  unsavedMethods = () => this.methods().filter(({ changes, savedChanges }) => changes > savedChanges)
  confirmSaved({ payment_method, changes }: MethodHealth) {
    const method = this.#methods.get(payment_method)
    if (method) method.savedChanges = changes
  }

  #judge({ payment_method, attempt_id }: CallSubject, result: CallResult, recordCall: RecordCall) {
    const { reply, delayMs, timeoutMs } = result
    const outcome = outcomeOf(reply)
    const pauseMs = reply.state === 'unknown' ? reply.restMs : undefined
    if (outcome === 'answered') {
      const isLate = delayMs > timeoutMs / 2 && !this.#isSimulated
      this.count(payment_method, { what: outcome, delayMs, isLate })
      this.#acceptCredentials(payment_method)
    } else if (!this.#isSimulated) {
      this.count(payment_method, { what: outcome })
      if ('words' in reply) this.#recordError(payment_method, attempt_id, reply)
    }
    recordCall(pauseMs || this.#isSimulated ? undefined : outcome) // a provider that asks for a pause is not down
    if (pauseMs) this.pause(pauseMs)
  }

  // The provider accepts the credentials for every payment method.
  #acceptCredentials(payment_method: string) {
    for (const [name, method] of this.#methods)
      if (name === payment_method || method.lastError?.isRefusal) method.lastError = null
    if (this.#credentials !== 'accepted') this.credentialsChange = { account: this.account }
    this.#credentials = 'accepted'
  }

  #recordError(payment_method: string, attempt_id: string, reply: SanitizedReply & { words: string }) {
    const isRefusal = 'isRefusal' in reply && reply.isRefusal === true
    const words = maskNumbers(reply.words).slice(0, maxError)
    this.#method(payment_method).lastError = { words, isRefusal, at: this.#now() }
    if (!isRefusal || this.isRefused()) return
    this.#credentials = 'refused'
    this.credentialsChange = { account: this.account, refused: { words, attempt_id } }
  }

  // Counts an unknown code, and flags the reply if it is the third attempt with the same one.
  #inspectReply(verb: Verb, called: CallSubject, { reply, delayMs }: CallResult): SanitizedReply {
    const { unknownCode, provider_code } = reply as ReplyFacts
    const hasUnknownCode = unknownCode !== undefined
    if (hasUnknownCode) this.countUnknownCode(called.payment_method, unknownCode)
    const outcome = reply.state === 'not_sent' ? reply.state : outcomeOf(reply)
    this.#observe(verb, called, outcome, { delayMs, hasUnknownCode })
    if (!hasUnknownCode || provider_code === undefined || this.#isSimulated) return reply
    return this.#isRepeatedCode(called, provider_code)
      ? ({ ...reply, isRepeatedCode: true } as SanitizedReply)
      : reply
  }

  #isRepeatedCode({ payment_method, attempt_id }: CallSubject, code: string): boolean {
    const { codeCounts } = this.#method(payment_method)
    const { count, isRepeated } = countCode(codeCounts.get(code) ?? nothingCounted, attempt_id, this.#now())
    setLatest(codeCounts, code, count, mostCodes)
    return isRepeated
  }

  #now = () => this.#options.monotonicMs()

  #observe(
    verb: Verb,
    { payment_method }: CallSubject,
    outcome: ObservedCall['outcome'],
    more: Partial<ObservedCall> = {},
  ) {
    const call = { account: this.account, payment_method, verb, outcome, delayMs: 0, hasUnknownCode: false }
    this.#options.watch({ ...call, ...more })
  }

  #method(payment_method: string): MethodState {
    const method = this.#methods.get(payment_method) ?? newMethodState(this.account, payment_method)
    method.seenAt = this.#now()
    setLatest(this.#methods, payment_method, method, mostMethods)
    return method
  }
}

type RecordCall = ReturnType<AccountMonitor['trackCall']>

const newMethodState = (account: string, payment_method: string): MethodState => ({
  account,
  payment_method,
  window: [],
  seenAt: 0,
  answeredAt: null,
  paidAt: null,
  lastError: null,
  unknownCodes: new Map(),
  codeCounts: new Map(),
  changes: 0,
  savedChanges: 0,
})

// A Map iterates in the order of insertion, so the first entry is the least recently used one.
function setLatest<Value>(map: Map<string, Value>, key: string, value: Value, most: number) {
  map.delete(key)
  map.set(key, value)
  if (map.size > most) map.delete(map.keys().next().value as string)
}

// A reply with an unknown code is an answer: the provider is reachable.
function outcomeOf(reply: SanitizedReply): CallOutcome {
  if (reply.state === 'not_sent') return 'unanswered'
  if (reply.state !== 'unknown') return 'answered'
  return reply.acknowledged || reply.unknownCode ? 'answered' : 'unanswered'
}

function rateLimitOf(
  { callsPerSecond, pollsPerSecond }: ProviderTiming,
  { nodes, monotonicMs }: Required<HealthMonitorOptions>,
): WaitForTurn | undefined {
  if (callsPerSecond) return createRateLimiter(callsPerSecond, nodes, monotonicMs)
  if (!pollsPerSecond) return undefined
  const waitToPoll = createRateLimiter(pollsPerSecond, nodes, monotonicMs)
  return async (verb, ...rest) => (verb === 'ask' ? waitToPoll(verb, ...rest) : undefined)
}

export type HealthReader = { of(account: string, payment_method: string): AccountHealth }

export type HealthMonitors = ReturnType<typeof createHealthMonitors>

// One monitor for each account name. There are as many as the operator has set up accounts.
export function createHealthMonitors({
  nodes = () => 1,
  watch = () => {},
  monotonicMs = () => performance.now(),
}: HealthMonitorOptions = {}) {
  const monitors = new Map<string, AccountMonitor>()

  function account(name: string): AccountMonitor {
    const monitor = monitors.get(name) ?? new AccountMonitor(name, { nodes, watch, monotonicMs })
    monitors.set(name, monitor)
    return monitor
  }

  return {
    account,
    all: (): AccountMonitor[] => [...monitors.values()],
    of: (name: string, payment_method: string) => account(name).health(payment_method),
    monitorFor(name: string, opened: Parameters<AccountMonitor['configure']>[0]): HealthMonitor {
      account(name).configure(opened)
      return account(name)
    },
    // Call it after the commit of the update.
    ended({ attempt, events }: Pick<StatusUpdate, 'attempt' | 'events'>) {
      if (events.some(({ kind }) => kind === 'attempt_paid' || kind === 'attempt_failed'))
        account(attempt.provider_account).countAttempt(attempt)
    },
    setOtherNodes(views: readonly OtherNodeHealth[]) {
      for (const monitor of monitors.values()) monitor.clearOtherNodes()
      for (const view of views) account(view.account).addOtherNode(view)
    },
  }
}

// What an account guard uses of a monitor.
export type HealthMonitor = Pick<AccountMonitor, 'whyBlocked' | 'begin' | 'postpone' | 'waitForTurn'>

export const noHealthMonitor: HealthMonitor = {
  waitForTurn: undefined,
  whyBlocked: () => undefined,
  begin: () => result => result?.reply,
  postpone: () => {},
}
