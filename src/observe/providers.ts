import { Counter, Gauge, Histogram } from 'prom-client'
import type { OverdueWatch } from '../actions/providers/overdueAttempts.ts'
import { breakerStates } from '../core/provider/breaker.ts'
import { delayBoundsMs, accountHealths } from '../core/provider/accountHealth.ts'
import type { ObservedCall, HealthMonitors } from '../runtime/providers/healthMonitor.ts'
import type { Metrics } from './metrics.ts'

const mostAccounts = 1000 // with a name of their own; what comes then is counted together

// What the operator sees of providers, by account and method to pay.
export function watchCalls({ registry }: Metrics): (seen: ObservedCall) => void {
  const registers = [registry]
  const labelNames = ['account', 'payment_method', 'verb', 'outcome'] as const
  const calls = new Counter({
    name: 'tollgate_provider_calls_total',
    help:
      'Orders (start) and questions (ask) to providers, by what came of them: answered, unanswered, not_sent, or ' +
      'put_off where we did not let them leave.',
    labelNames,
    registers,
  })
  const seconds = new Histogram({
    name: 'tollgate_provider_call_seconds',
    help: 'Time from a call to the answer of its provider.',
    labelNames: ['account', 'payment_method', 'verb'],
    buckets: delayBoundsMs.map(ms => ms / 1000),
    registers,
  })
  const unknownCodes = new Counter({
    name: 'tollgate_provider_unknown_codes_total',
    help: 'Answers with a word that we do not know: tollgate provider status shows them.',
    labelNames: ['account', 'payment_method'],
    registers,
  })
  const named = new Set<string>()
  const nameOf = (account: string) => {
    if (named.size < mostAccounts) named.add(account)
    return named.has(account) ? account : 'others'
  }
  return ({ account: whole, payment_method, verb, outcome, delayMs, isOdd }) => {
    const account = nameOf(whole)
    calls.inc({ account, payment_method, verb, outcome })
    if (outcome === 'answered') seconds.observe({ account, payment_method, verb }, delayMs / 1000)
    if (isOdd) unknownCodes.inc({ account, payment_method })
  }
}

// Attempts that no node asks about, because their account is not set up: see actions/providers/overdueAttempts.ts.
export const gaugeWaiting = ({ registry }: Metrics, waiting: OverdueWatch['waiting']) =>
  new Gauge({
    name: 'tollgate_attempts_not_set_up',
    help: 'Overdue attempts whose account is not set up, or is of another business or mode now, by account.',
    labelNames: ['account'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { account, attempts } of waiting().slice(0, mostAccounts)) this.set({ account }, attempts)
    },
  })

type Shown = Pick<HealthMonitors, 'of' | 'windows' | 'breakers'>

// Numbers that are read when somebody asks for them.
export function gaugeProviders({ registry }: Metrics, { of, windows, breakers }: Shown) {
  const registers = [registry]
  const methods = () => windows.all().slice(-mostAccounts)
  const standing = new Gauge({
    name: 'tollgate_provider_health',
    help: 'Health of an account for one payment method over the last minutes: 0 healthy, 1 degraded, 2 down.',
    labelNames: ['account', 'payment_method'],
    registers,
    collect() {
      this.reset()
      for (const { account, payment_method } of methods())
        this.set({ account, payment_method }, accountHealths.indexOf(of(account, payment_method)))
    },
  })
  const breaker = new Gauge({
    name: 'tollgate_provider_breaker',
    help: 'The breaker of this node before an account: 0 closed, 1 open, 2 probing.',
    labelNames: ['account'],
    registers,
    collect() {
      this.reset()
      for (const { account } of methods())
        this.set({ account }, breakerStates.indexOf(breakers.stateOf(account)))
    },
  })
  const refused = new Gauge({
    name: 'tollgate_provider_refused',
    help: 'Whether the provider refuses the credentials of an account: 1 if so.',
    labelNames: ['account'],
    registers,
    collect() {
      this.reset()
      for (const { account } of methods()) this.set({ account }, Number(windows.isRefused(account)))
    },
  })
  const since = new Gauge({
    name: 'tollgate_provider_since_seconds',
    help: 'Seconds since this node last had an answer of an account, and since it last heard of a payment that was paid.',
    labelNames: ['account', 'payment_method', 'what'],
    registers,
    collect() {
      this.reset()
      for (const { account, payment_method, answeredAt, paidAt } of methods())
        for (const [what, at] of [
          ['answer', answeredAt],
          ['paid', paidAt],
        ] as const)
          if (at !== null) this.set({ account, payment_method, what }, (performance.now() - at) / 1000)
    },
  })
  return [standing, breaker, refused, since]
}
