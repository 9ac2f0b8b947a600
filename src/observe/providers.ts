import { Gauge, Histogram } from 'prom-client'
import type { OverdueWatch } from '../actions/providers/overdueAttempts.ts'
import type { Logger } from 'pino'
import { circuitStates } from '../core/provider/circuitBreaker.ts'
import { accountHealths, delayBoundsMs, type HealthRow } from '../core/provider/health.ts'
import type { HealthMonitors, ObservedCall } from '../runtime/providers/healthMonitor.ts'
import type { OnFault } from '../runtime/providers/storedAccounts.ts'
import { type Metrics, mostAccounts } from './metrics.ts'

const verbs: readonly ObservedCall['verb'][] = ['start', 'ask', 'refund', 'ask_refund']
const outcomes: readonly ObservedCall['outcome'][] = ['answered', 'unanswered', 'not_sent', 'put_off']

// Metrics of provider accounts, by account and payment method.
export function watchCalls({
  registry,
  counter,
  initial,
  unknownCodes,
}: Metrics): (call: ObservedCall) => void {
  const registers = [registry]
  const labelNames = ['account', 'payment_method', 'verb', 'outcome'] as const
  const calls = counter(
    'tollgate_provider_calls_total',
    'Orders (start), refunds (refund) and status questions (ask, ask_refund) to providers, by outcome: answered, ' +
      'unanswered, not_sent, or put_off if the breaker or the rate limit blocked them.',
    labelNames,
    () =>
      initial().flatMap(({ account, methods }) =>
        methods.flatMap(payment_method =>
          verbs.flatMap(verb => outcomes.map(outcome => ({ account, payment_method, verb, outcome }))),
        ),
      ),
  )
  const seconds = new Histogram({
    name: 'tollgate_provider_call_seconds',
    help: 'Time from a call to the answer of the provider.',
    labelNames: ['account', 'payment_method', 'verb'],
    buckets: delayBoundsMs.map(ms => ms / 1000),
    registers,
  })
  const labelled = new Set<string>()
  const labelOf = (account: string) => {
    if (labelled.size < mostAccounts) labelled.add(account)
    return labelled.has(account) ? account : 'others'
  }
  return ({ account: name, payment_method, verb, outcome, delayMs = 0, reply = {} }) => {
    const account = labelOf(name)
    calls.inc({ account, payment_method, verb, outcome })
    if (outcome === 'answered') seconds.observe({ account, payment_method, verb }, delayMs / 1000)
    if ('unknownCode' in reply) unknownCodes.inc({ account, payment_method })
  }
}

// Attempts that no node polls, because their account is not set up: see actions/providers/overdueAttempts.ts.
export const gaugeWaiting = ({ registry }: Metrics, waiting: OverdueWatch['waiting']) =>
  new Gauge({
    name: 'tollgate_attempts_not_set_up',
    help: 'Overdue attempts whose account is not set up, or belongs to another business or mode now, by account.',
    labelNames: ['account'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { account, attempts } of waiting().slice(0, mostAccounts)) this.set({ account }, attempts)
    },
  })

// Gauges that are computed when the metrics are read.
export function gaugeProviders({ registry }: Metrics, monitors: HealthMonitors) {
  const rows = () =>
    monitors
      .all()
      .flatMap(monitor => monitor.rows())
      .toSorted((a, b) => Number(a.written_at) - Number(b.written_at))
      .slice(-mostAccounts)

  function gauge<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    collect: (one: Gauge<Label>, row: HealthRow) => void,
  ) {
    return new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset()
        for (const row of rows()) collect(this, row)
      },
    })
  }

  gauge(
    'tollgate_provider_health',
    'Health of an account for one payment method over the last minutes: 0 healthy, 1 degraded, 2 down.',
    ['account', 'payment_method'],
    (one, { provider_account: account, payment_method }) =>
      one.set({ account, payment_method }, accountHealths.indexOf(monitors.of(account, payment_method))),
  )
  gauge(
    'tollgate_provider_breaker',
    'Circuit breaker of an account on this node: 0 closed, 1 open, 2 probing.',
    ['account'],
    (one, { provider_account: account, breaker }) => one.set({ account }, circuitStates.indexOf(breaker)),
  )
  gauge(
    'tollgate_provider_refused',
    'Whether the provider refuses the credentials of an account: 1 if so.',
    ['account'],
    (one, { provider_account: account }) => one.set({ account }, monitors.account(account).refusal ? 1 : 0),
  )
  gauge(
    'tollgate_provider_since_seconds',
    'Seconds since this node received an answer from an account (answer), and since it learned of a paid payment (paid).',
    ['account', 'payment_method', 'what'],
    (one, { provider_account: account, payment_method, answered_at, paid_at }) => {
      for (const [what, at] of Object.entries({ answer: answered_at, paid: paid_at }))
        if (at) one.set({ account, payment_method, what }, (Number(monitors.clock()) - Number(at)) / 1000)
    },
  )
}

// Logs an account that cannot be opened, once for each change of it.
export const watchAccounts =
  (log: Logger): OnFault =>
  ({ account, provider, mode, merchant_id, fault }) =>
    log.warn(
      { account, provider, mode, merchant_id, why: fault },
      'an account cannot be opened: tollgate provider list shows it',
    )
