import type { Mode } from '../core/mode.ts'
import type { ObserveStatuses } from '../runtime/localWorkers.ts'
import { type Metrics, sharedReading } from './metrics.ts'

const modes: readonly Mode[] = ['test', 'live']
const none = 'none' // no method was chosen
const ended = ['paid', 'failed', 'cancelled'] as const

type Stored = { mode: Mode; tx_reference: string }

// Counts payments by the status that they get. `methods` are those of the accounts that are open at the start.
export function watchPayments({ counter }: Metrics, methods: readonly string[]) {
  const known = modes.flatMap(mode => [
    { status: 'awaiting_payment', payment_method: none, mode },
    ...ended.flatMap(status =>
      [none, ...methods].map(payment_method => ({ status: status as string, payment_method, mode })),
    ),
  ])
  const payments = counter(
    'tollgate_payments_total',
    'Payments by the status that they got, by payment method and mode. A payment may fail and be paid later.',
    ['status', 'payment_method', 'mode'],
    known,
  )
  const changed: ObserveStatuses = changes => {
    for (const { before, after } of changes)
      if (before.status !== after.status)
        payments.inc({
          status: after.status,
          payment_method: after.payment_method ?? none,
          mode: after.mode,
        })
  }
  return {
    changed,
    // `stored` are the rows under the invoice ids of `requested`: the new row, or the one that existed before.
    stored(requested: readonly Stored[], stored: readonly Pick<Stored, 'tx_reference'>[]) {
      requested.forEach(({ mode, tx_reference }, at) => {
        if (stored[at]?.tx_reference === tx_reference)
          payments.inc({ status: 'awaiting_payment', payment_method: none, mode })
      })
    },
  }
}

type Backlogs = {
  unresolved: number
  oldest_unresolved_seconds: number
  to_expire: number
  to_redact: number
}

export function gaugeBacklogs({ gauge }: Metrics, read: () => Promise<Backlogs>) {
  const backlogs = sharedReading(read)
  gauge(
    'tollgate_attempts_unresolved',
    'Attempts without an outcome, 10,000 at most.',
    [],
    async unresolved => unresolved.set((await backlogs()).unresolved),
  )
  gauge(
    'tollgate_attempt_oldest_unresolved_seconds',
    'Age of the oldest attempt without an outcome.',
    [],
    async age => age.set((await backlogs()).oldest_unresolved_seconds),
  )
  gauge(
    'tollgate_backlog',
    'Payments that the workers should have ended (expiry) or redacted (redaction) by now, 10,000 at most.',
    ['of'],
    async backlog => {
      const { to_expire, to_redact } = await backlogs()
      backlog.set({ of: 'expiry' }, to_expire)
      backlog.set({ of: 'redaction' }, to_redact)
    },
  )
}
