import type { Logger } from 'pino'
import { Counter } from 'prom-client'
import type { RedactionWatch } from '../actions/redaction/redact.ts'
import type { Metrics } from './metrics.ts'

const named = 5

// What the operator sees of it: how many, and which could not be.
export function watchRedaction({ registry }: Metrics, log: Logger): RedactionWatch {
  const redacted = new Counter({
    name: 'tollgate_redacted_payments_total',
    help: 'Payments whose personal details were removed after TOLLGATE_REDACT_DAYS.',
    registers: [registry],
  })
  return {
    redacted: count => redacted.inc(count),
    leftOut: ({ error, payments }) =>
      log.warn(
        { error: String(error), count: payments.length, payments: payments.slice(0, named) },
        'personal details could not be removed',
      ),
  }
}
