import { maskNumbers } from '../../core/mask.ts'
import type { StatusUpdate } from '../../core/payment/change.ts'
import * as circuit from '../../core/provider/circuitBreaker.ts'
import * as health from '../../core/provider/health.ts'
import type { Order } from '../../core/provider/order.ts'
import type { ProviderAccount } from '../../core/provider/provider.ts'
import type { Reply, ReplyFacts, SanitizedReply } from '../../core/provider/reply.ts'
import { type CodeAttempts, countCode, countSample } from '../../core/provider/unknownCode.ts'
import { createRateLimiter, type WaitForTurn } from './rateLimiter.ts'

// Health of the provider accounts, as this node sees it. Every call to a provider passes the monitor of its account:
// before the call the circuit breaker may block it and the rate limiter may delay it; after the call its outcome is
// recorded in the breaker and counted in the window of its payment method. The health of a method is the worse one of
// the health by the breaker and the health by the counts of all nodes. The pure rules are in core/provider/health.ts and
// core/provider/circuitBreaker.ts; actions/providers/health.ts exchanges counts with the other nodes, probes open
// breakers and raises tasks.

const maxError = 200 // characters
const maxMethods = 50 // of one account; then the one that was added first is dropped
const probeEveryMs = 30_000
export const otherNodesMs = 60_000 // counts of another node are used for this long after its last call

type CallSubject = Pick<Order, 'attempt_id' | 'payment_method'>
type CallResult = { reply: SanitizedReply; delayMs: number; timeoutMs: number }

// A call as the metrics count it. `put_off`: it was blocked before it was sent.
export type ObservedCall = {
  account: string
  payment_method: string
  verb: circuit.Verb
  outcome: circuit.CallOutcome | 'not_sent' | 'put_off'
  delayMs: number
  hasUnknownCode: boolean
}

export type HealthMonitorOptions = {
  nodes?(): number // running nodes, this one included
  watch?(call: ObservedCall): void
  clock?(): Date
  monotonicMs?(): number
}

// The attempt whose call showed that the provider refuses the credentials of an account.
export type CredentialsRefusal = { words: string; attempt_id: string }

// What this node has seen of one payment method. The counts of the row are computed from the window.
type MethodState = { row: health.HealthRow; window: health.CallWindow; codes: CodeAttempts }

const noError = { last_error: null, last_error_at: null, is_refused: false }

export class AccountMonitor {
  readonly account: string
  waitForTurn: WaitForTurn = async () => {}
  changes = 0 // of the rows
  refusal: CredentialsRefusal | null | undefined // null: the provider accepts the credentials; undefined: they are untried
  savedRefusal: CredentialsRefusal | null | undefined
  otherNodes: health.HealthRow[] = []
  readonly #methods = new Map<string, MethodState>()
  readonly #options: Required<HealthMonitorOptions>
  #breaker = circuit.newBreaker
  #probedAt = -Infinity
  #isTest = false
  #isSimulated = false // a tester chooses the failures, so they prove nothing about the account

  constructor(account: string, options: Required<HealthMonitorOptions>) {
    this.account = account
    this.#options = options
  }

  // Called each time the account is opened. Counts and breaker stay.
  configure({ mode, timing = {}, testEndings }: Pick<ProviderAccount, 'mode' | 'timing' | 'testEndings'>) {
    this.waitForTurn = createRateLimiter(timing, this.#options.nodes, this.#options.monotonicMs)
    this.#isTest = mode === 'test'
    this.#isSimulated = this.#isTest && testEndings !== undefined
    return this
  }

  health(payment_method: string): health.AccountHealth {
    const now = this.#now()
    const own = health.countsOf(this.#methods.get(payment_method)?.window ?? [], now)
    const since = this.#options.clock().getTime() - otherNodesMs
    const otherNodes = this.otherNodes.filter(
      row => row.payment_method === payment_method && row.written_at.getTime() > since,
    )
    const byCounts = health.healthOf(health.sumCounts([own, ...otherNodes]))
    return health.worseHealth(health.healthByBreaker(this.#breaker, now), byCounts)
  }

  circuitState = () => circuit.circuitStateOf(this.#breaker, this.#now())
  whyBlocked = (verb: circuit.Verb) => circuit.whyBlocked(this.#breaker, verb, this.#now())
  pauseMs = () => Math.max(0, this.#breaker.pausedUntil - this.#now())
  pause(pauseMs: number) {
    this.#breaker = circuit.pauseBreaker(this.#breaker, pauseMs, this.#now())
  }

  // Whether to probe the account now: when its breaker begins to probe, and then every 30 seconds.
  takeProbe(): boolean {
    if (this.circuitState() !== 'probing' || this.whyBlocked('start')) return false
    const isProbed = this.#probedAt >= Number(this.#breaker.openUntil)
    if (isProbed && this.#now() - this.#probedAt < probeEveryMs) return false
    this.#probedAt = this.#now()
    return true
  }

  // Returns the function that takes the result of the call, undefined if it was not sent, and returns the reply to pass on.
  // Without `judgesAccount` the result changes neither the breaker nor the health, and pauses nothing.
  begin(verb: circuit.Verb, called: CallSubject, judgesAccount = true) {
    const recordCall = this.trackCall(verb, called.attempt_id)
    const call = { account: this.account, payment_method: called.payment_method, verb }
    return (result: CallResult | undefined): SanitizedReply | undefined => {
      recordCall(result && judgesAccount ? this.#judge(called, result) : undefined)
      const { reply, delayMs = 0 } = result ?? {}
      const outcome = reply ? outcomeOf(reply) : 'put_off'
      const hasUnknownCode = reply !== undefined && (reply as ReplyFacts).unknownCode !== undefined
      this.#options.watch({ ...call, outcome, delayMs, hasUnknownCode })
      return hasUnknownCode ? this.#countUnknownCode(called, reply) : reply
    }
  }

  // Registers a call with the breaker. The returned function takes its outcome, undefined if the account is not judged by
  // it. An order that is sent while the breaker is not closed is a probe. When the breaker closes, all counts are reset.
  trackCall(verb: circuit.Verb, order: string) {
    const probe = verb === 'start' && this.circuitState() !== 'closed' ? 1 : 0
    this.#breaker = { ...this.#breaker, probes: this.#breaker.probes + probe }
    return (outcome: circuit.CallOutcome | undefined) => {
      const before = { ...this.#breaker, probes: this.#breaker.probes - probe }
      this.#breaker = outcome ? circuit.recordOutcome(before, { verb, order }, outcome, this.#now()) : before
      if (before.openUntil !== null && this.#breaker.openUntil === null)
        for (const method of this.#methods.values()) method.window = []
    }
  }

  count(payment_method: string, counts: Partial<health.CallCounts>, error: Partial<health.HealthRow> = {}) {
    const method = this.#method(payment_method)
    const now = this.#options.clock()
    method.window = health.addToWindow(method.window, counts, this.#now())
    Object.assign(method.row, error, { written_at: now })
    if (counts.answered) method.row.answered_at = now
    if (counts.paid) method.row.paid_at = now
    this.changes++
  }

  // An attempt got its outcome. A failure of a test payment proves nothing about the account.
  countAttempt({ payment_method, state, reason }: StatusUpdate['attempt']) {
    const outcome = health.countedOutcome(state, reason)
    if (outcome && (outcome === 'paid' || !this.#isTest)) this.count(payment_method, { [outcome]: 1 })
  }

  // What this node has seen of each payment method.
  rows(): health.HealthRow[] {
    const pauseMs = this.pauseMs()
    const rest_until = pauseMs > 0 ? new Date(this.#options.clock().getTime() + pauseMs) : null
    return [...this.#methods.values()].map(({ row, window }) => {
      const counts = health.countsOf(window, this.#now())
      return { ...row, ...counts, breaker: this.circuitState(), rest_until }
    })
  }

  // Returns the outcome for the breaker, undefined if it proves nothing: a provider that asks for a pause is not down.
  #judge({ payment_method, attempt_id }: CallSubject, { reply, delayMs, timeoutMs }: CallResult) {
    const outcome = outcomeOf(reply) === 'answered' ? 'answered' : 'unanswered'
    if (outcome === 'answered') {
      const isLate = delayMs > timeoutMs / 2 && !this.#isSimulated
      this.count(payment_method, health.answeredCall(delayMs, isLate), noError)
      for (const { row } of this.#methods.values()) if (row.is_refused) Object.assign(row, noError)
      this.refusal = null
    } else if (!this.#isSimulated) {
      const { words, isRefusal: is_refused = false } = reply as UnansweredReply
      const last_error = maskNumbers(words).slice(0, maxError)
      const error = { last_error, last_error_at: this.#options.clock(), is_refused }
      this.count(payment_method, { unanswered: 1 }, error)
      if (is_refused) this.refusal ??= { words: last_error, attempt_id }
    }
    const pauseMs = reply.state === 'unknown' ? reply.restMs : undefined
    if (pauseMs) this.pause(pauseMs)
    return pauseMs || this.#isSimulated ? undefined : outcome
  }

  // Flags the reply if it is the third attempt with the same unknown code.
  #countUnknownCode({ payment_method, attempt_id }: CallSubject, reply: SanitizedReply): SanitizedReply {
    const { unknownCode = '', provider_code } = reply as ReplyFacts
    const method = this.#method(payment_method)
    method.row.unknown_codes = countSample(method.row.unknown_codes, unknownCode)
    if (provider_code === undefined || this.#isSimulated) return reply
    const { codes, isRepeated } = countCode(method.codes, provider_code, attempt_id, this.#now())
    method.codes = codes
    return isRepeated ? ({ ...reply, isRepeatedCode: true } as SanitizedReply) : reply
  }

  #now = () => this.#options.monotonicMs()

  #method(payment_method: string): MethodState {
    const known = this.#methods.get(payment_method)
    if (known) return known
    const row = health.newHealthRow(this.account, payment_method, this.#options.clock())
    const method = { row, window: [], codes: new Map() }
    this.#methods.set(payment_method, method)
    if (this.#methods.size > maxMethods) this.#methods.delete(this.#methods.keys().next().value as string)
    return method
  }
}

type UnansweredReply = Extract<Reply, { state: 'unknown' | 'not_sent' }>

// A reply with an unknown code is an answer: the provider is reachable.
function outcomeOf(reply: SanitizedReply): circuit.CallOutcome | 'not_sent' {
  if (reply.state === 'not_sent') return 'not_sent'
  if (reply.state !== 'unknown') return 'answered'
  return reply.acknowledged || reply.unknownCode ? 'answered' : 'unanswered'
}

export type HealthMonitors = ReturnType<typeof createHealthMonitors>

// One monitor for each account name. There are as many as the operator has set up accounts.
export function createHealthMonitors({
  nodes = () => 1,
  watch = () => {},
  clock = () => new Date(),
  monotonicMs = () => performance.now(),
}: HealthMonitorOptions = {}) {
  const monitors = new Map<string, AccountMonitor>()

  function account(name: string): AccountMonitor {
    const monitor = monitors.get(name) ?? new AccountMonitor(name, { nodes, watch, clock, monotonicMs })
    monitors.set(name, monitor)
    return monitor
  }

  return {
    clock,
    account,
    all: () => [...monitors.values()],
    of: (name: string, payment_method: string) => account(name).health(payment_method),
    monitorFor: (name: string, opened: Parameters<AccountMonitor['configure']>[0]) =>
      account(name).configure(opened),
    // Call it after the commit of the update.
    ended({ attempt, events }: Pick<StatusUpdate, 'attempt' | 'events'>) {
      if (events.some(({ kind }) => kind === 'attempt_paid' || kind === 'attempt_failed'))
        account(attempt.provider_account).countAttempt(attempt)
    },
    // A pause that the provider asked another node for applies here too.
    setOtherNodes(rows: readonly health.HealthRow[], now: Date) {
      for (const monitor of monitors.values()) monitor.otherNodes = []
      for (const row of rows) {
        const monitor = account(row.provider_account)
        monitor.otherNodes.push(row)
        if (row.rest_until && row.rest_until > now) monitor.pause(row.rest_until.getTime() - now.getTime())
      }
    },
  }
}
