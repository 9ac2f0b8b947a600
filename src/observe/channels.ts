import { Counter, Gauge, Histogram } from 'prom-client'
import type { OverdueWatch } from '../actions/channels/overdueAttempts.ts'
import { breakerStates } from '../core/channel/breaker.ts'
import { delayBoundsMs, standings } from '../core/channel/standing.ts'
import type { CallSeen, Keepers } from '../runtime/channels/keeper.ts'
import type { Metrics } from './metrics.ts'

const mostAccounts = 1000 // with a name of their own; what comes then is counted together

// What the operator sees of providers, by account and way to pay.
export function watchCalls({ registry }: Metrics): (seen: CallSeen) => void {
  const registers = [registry]
  const labelNames = ['account', 'payment_method', 'verb', 'outcome'] as const
  const calls = new Counter({
    name: 'tollgate_channel_calls_total',
    help:
      'Orders (start) and questions (ask) to providers, by what came of them: answered, unanswered, not_sent, or ' +
      'put_off where we did not let them leave.',
    labelNames,
    registers,
  })
  const seconds = new Histogram({
    name: 'tollgate_channel_call_seconds',
    help: 'Time from a call to the answer of its provider.',
    labelNames: ['account', 'payment_method', 'verb'],
    buckets: delayBoundsMs.map(ms => ms / 1000),
    registers,
  })
  const oddWords = new Counter({
    name: 'tollgate_channel_odd_words_total',
    help: 'Answers with a word that we do not know: tollgate channel status shows them.',
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
    if (isOdd) oddWords.inc({ account, payment_method })
  }
}

// Attempts that no node asks about, because their account is not set up: see actions/channels/overdueAttempts.ts.
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

type Shown = Pick<Keepers, 'of' | 'windows' | 'breakers'>

// Numbers that are read when somebody asks for them.
export function gaugeChannels({ registry }: Metrics, { of, windows, breakers }: Shown) {
  const registers = [registry]
  const ways = () => windows.all().slice(-mostAccounts)
  const standing = new Gauge({
    name: 'tollgate_channel_standing',
    help: 'How an account does in a way to pay, of late: 0 good, 1 slow, 2 down.',
    labelNames: ['account', 'payment_method'],
    registers,
    collect() {
      this.reset()
      for (const { account, payment_method } of ways())
        this.set({ account, payment_method }, standings.indexOf(of(account, payment_method)))
    },
  })
  const breaker = new Gauge({
    name: 'tollgate_channel_breaker',
    help: 'The breaker of this node before an account: 0 closed, 1 open, 2 probing.',
    labelNames: ['account'],
    registers,
    collect() {
      this.reset()
      for (const { account } of ways())
        this.set({ account }, breakerStates.indexOf(breakers.stateOf(account)))
    },
  })
  const refused = new Gauge({
    name: 'tollgate_channel_refused',
    help: 'Whether the provider refuses the credentials of an account: 1 if so.',
    labelNames: ['account'],
    registers,
    collect() {
      this.reset()
      for (const { account } of ways()) this.set({ account }, Number(windows.isRefused(account)))
    },
  })
  const since = new Gauge({
    name: 'tollgate_channel_since_seconds',
    help: 'Seconds since this node last had an answer of an account, and since it last heard of a payment that was paid.',
    labelNames: ['account', 'payment_method', 'what'],
    registers,
    collect() {
      this.reset()
      for (const { account, payment_method, answeredAt, paidAt } of ways())
        for (const [what, at] of [
          ['answer', answeredAt],
          ['paid', paidAt],
        ] as const)
          if (at !== null) this.set({ account, payment_method, what }, (performance.now() - at) / 1000)
    },
  })
  return [standing, breaker, refused, since]
}
