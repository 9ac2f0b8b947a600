import { maskNumbers } from '../../core/mask.ts'
import type { StatusUpdate } from '../../core/payment/change.ts'
import * as circuit from '../../core/provider/circuitBreaker.ts'
import * as health from '../../core/provider/health.ts'
import type { Order } from '../../core/provider/order.ts'
import type { ReplyFacts, SanitizedReply } from '../../core/provider/reply.ts'
import { type CodeAttempts, countCode, countSample } from '../../core/provider/unknownCode.ts'

// Health of the provider accounts, as this node sees it. The guard of an account reports every call to the monitor of the
// account: before the call the circuit breaker may block it; after the call its outcome is recorded in the breaker and
// counted in the window of its payment method. The health of a method is the worse one of the health by the breaker and
// the health by the counts of all nodes. The pure rules are in core/provider/health.ts and core/provider/circuitBreaker.ts;
// workers/providerHealth.ts exchanges counts with the other nodes and raises tasks.

const maxError = 200 // characters
const maxMethods = 50 // of one account; then the one that was added first is dropped
const probeEveryMs = 30_000
export const otherNodesMs = 60_000 // counts of another node are used for this long after its last call

// A submission changes neither the breaker nor the health, and pauses nothing: the customer's input decides its result. If
// the provider is simulated, a tester chooses the failures, so they prove nothing about the account.
type MonitoredCall = Pick<Order, 'attempt_id' | 'payment_method'> & {
  verb: circuit.Verb
  isSubmission?: boolean
  isSimulated?: boolean
}
type CallResult = { reply: SanitizedReply; delayMs: number; timeoutMs: number }

// A call as the metrics count it. `put_off`: it was blocked before it was sent, and has no result.
export type ObservedCall = Omit<MonitoredCall, 'verb'> &
  Partial<CallResult> & {
    verb: circuit.Verb | 'refund' | 'ask_refund'
    account: string
    outcome: circuit.CallOutcome | 'put_off'
  }

const defaultOptions = {
  nodes: () => 1, // running nodes, this one included
  watch: (() => {}) as (call: ObservedCall) => void,
  clock: () => new Date(),
  monotonicMs: () => performance.now(),
}
export type HealthMonitorOptions = Partial<typeof defaultOptions>

// The attempt whose call showed that the provider refuses the credentials of an account.
export type CredentialsRefusal = { words: string; attempt_id: string }

// What this node has seen of one payment method. The counts of the row are computed from the window.
type MethodState = { row: health.HealthRow; window: health.CallWindow; codes: CodeAttempts }

const noError = { last_error: null, last_error_at: null, is_refused: false }

export class AccountMonitor {
  readonly account: string
  readonly options: typeof defaultOptions
  changes = 0 // of the rows
  refusal: CredentialsRefusal | null | undefined // null: the provider accepts the credentials; undefined: they are untried
  savedRefusal: CredentialsRefusal | null | undefined
  otherNodes: health.HealthRow[] = []
  readonly #methods = new Map<string, MethodState>()
  #breaker = circuit.newBreaker
  #probedAt = -Infinity

  constructor(account: string, options: typeof defaultOptions) {
    this.account = account
    this.options = options
  }

  health(payment_method: string): health.AccountHealth {
    const own = health.countsOf(this.#methods.get(payment_method)?.window ?? [], this.#now())
    const since = this.options.clock().getTime() - otherNodesMs
    const otherNodes = this.otherNodes.filter(
      row => row.payment_method === payment_method && row.written_at.getTime() > since,
    )
    const byCounts = health.healthOf(health.sumCounts([own, ...otherNodes]))
    return health.worseHealth(health.healthByBreaker(this.#breaker, this.#now()), byCounts)
  }

  circuitState = () => circuit.circuitStateOf(this.#breaker, this.#now())
  whyBlocked = (verb: circuit.Verb) => circuit.whyBlocked(this.#breaker, verb, this.#now())
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
  begin(call: MonitoredCall) {
    const recordCall = this.trackCall(call.verb, call.attempt_id)
    return (result?: CallResult): SanitizedReply | undefined => {
      recordCall(result && !call.isSubmission ? this.#judge(call, result) : undefined)
      const outcome = result ? outcomeOf(result.reply) : 'put_off'
      this.options.watch({ ...call, ...result, account: this.account, outcome })
      return result && this.#countUnknownCode(call, result.reply)
    }
  }

  // Registers a call with the breaker. The returned function takes its outcome, undefined if the account is not judged by
  // it. An order that is sent while the breaker is not closed is a probe. When the breaker closes, all counts are reset.
  trackCall(verb: circuit.Verb, order: string) {
    const probe = verb === 'start' && this.circuitState() !== 'closed' ? 1 : 0
    this.#breaker = { ...this.#breaker, probes: this.#breaker.probes + probe }
    return (outcome: circuit.CallOutcome | undefined) => {
      const before = { ...this.#breaker, probes: this.#breaker.probes - probe }
      this.#breaker = outcome ? circuit.recordCall(before, { verb, order, outcome }, this.#now()) : before
      if (before.openUntil !== null && this.#breaker.openUntil === null)
        for (const method of this.#methods.values()) method.window = []
    }
  }

  count(payment_method: string, counts: Partial<health.CallCounts>, error: Partial<health.HealthRow> = {}) {
    const method = this.#method(payment_method)
    const now = this.options.clock()
    method.window = health.addToWindow(method.window, counts, this.#now())
    Object.assign(method.row, error, { written_at: now })
    if (counts.answered) method.row.answered_at = now
    if (counts.paid) method.row.paid_at = now
    this.changes++
  }

  // What this node has seen of each payment method.
  rows(): health.HealthRow[] {
    const pauseMs = this.#breaker.pausedUntil - this.#now()
    const rest_until = pauseMs > 0 ? new Date(this.options.clock().getTime() + pauseMs) : null
    const state = { breaker: this.circuitState(), rest_until }
    return [...this.#methods.values()].map(({ row, window }) => ({
      ...row,
      ...state,
      ...health.countsOf(window, this.#now()),
    }))
  }

  // Returns the outcome for the breaker, undefined if it proves nothing: a provider that asks for a pause is not down.
  #judge({ payment_method, attempt_id, isSimulated }: MonitoredCall, result: CallResult) {
    const { reply, delayMs, timeoutMs } = result
    const outcome = outcomeOf(reply)
    if (outcome === 'answered') {
      const isLate = delayMs > timeoutMs / 2 && !isSimulated
      this.count(payment_method, health.answeredCall(delayMs, isLate), noError)
      for (const { row } of this.#methods.values()) if (row.is_refused) Object.assign(row, noError)
      this.refusal = null
    } else if (!isSimulated) {
      const { words, isRefusal: is_refused = false } = reply as UnansweredReply
      const last_error = maskNumbers(words).slice(0, maxError)
      const error = { last_error, last_error_at: this.options.clock(), is_refused }
      this.count(payment_method, { unanswered: 1 }, error)
      if (is_refused) this.refusal ??= { words: last_error, attempt_id }
    }
    const pauseMs = reply.state === 'unknown' ? reply.restMs : undefined
    if (pauseMs) this.pause(pauseMs)
    return pauseMs || isSimulated ? undefined : outcome
  }

  // Flags the reply if it is the third attempt with the same unknown code.
  #countUnknownCode({ payment_method, attempt_id, isSimulated }: MonitoredCall, reply: SanitizedReply) {
    const { unknownCode, provider_code } = reply as ReplyFacts
    if (unknownCode === undefined) return reply
    const method = this.#method(payment_method)
    method.row.unknown_codes = countSample(method.row.unknown_codes, unknownCode)
    if (provider_code === undefined || isSimulated) return reply
    const { codes, isRepeated } = countCode(method.codes, provider_code, attempt_id, this.#now())
    method.codes = codes
    return isRepeated ? ({ ...reply, isRepeatedCode: true } as SanitizedReply) : reply
  }

  #now = () => this.options.monotonicMs()

  #method(payment_method: string): MethodState {
    const row = health.newHealthRow(this.account, payment_method, this.options.clock())
    const method = this.#methods.get(payment_method) ?? { row, window: [], codes: new Map() }
    this.#methods.set(payment_method, method)
    if (this.#methods.size > maxMethods) this.#methods.delete(this.#methods.keys().next().value as string)
    return method
  }
}

type UnansweredReply = Extract<SanitizedReply, { state: 'unknown' | 'not_sent' }>

// A reply with an unknown code is an answer: the provider is reachable.
function outcomeOf(reply: SanitizedReply): circuit.CallOutcome {
  if (reply.state === 'not_sent') return 'not_sent'
  if (reply.state !== 'unknown') return 'answered'
  return reply.acknowledged || reply.unknownCode ? 'answered' : 'unanswered'
}

export type HealthMonitors = ReturnType<typeof createHealthMonitors>

// One monitor for each account name. There are as many as the operator has set up accounts.
export function createHealthMonitors(chosenOptions: HealthMonitorOptions = {}) {
  const options = { ...defaultOptions, ...chosenOptions }
  const monitors = new Map<string, AccountMonitor>()

  function account(name: string): AccountMonitor {
    const monitor = monitors.get(name) ?? new AccountMonitor(name, options)
    monitors.set(name, monitor)
    return monitor
  }

  return {
    clock: options.clock,
    account,
    all: () => [...monitors.values()],
    of: (name: string, payment_method: string) => account(name).health(payment_method),
    // Call it after the commit of the update. A failure of a test payment proves nothing about the account.
    ended({ attempt, events }: Pick<StatusUpdate, 'attempt' | 'events'>) {
      const isEnd = events.some(({ kind }) => kind === 'attempt_paid' || kind === 'attempt_failed')
      const outcome = health.countedOutcome(attempt.state, attempt.reason ?? '')
      if (isEnd && outcome && (outcome === 'paid' || attempt.mode !== 'test'))
        account(attempt.provider_account).count(attempt.payment_method, { [outcome]: 1 })
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
