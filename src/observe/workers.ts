import type { Logger } from 'pino'
import { Counter } from 'prom-client'
import type { OnUnreadable } from '../actions/merchants/setMerchant.ts'
import type { RedactionWatch } from '../actions/redaction/redact.ts'
import type { OnSkippedRow } from '../runtime/skippedRows.ts'
import type { NodeWatch } from '../workers/node.ts'
import type { Metrics } from './metrics.ts'

// What background work logs and counts for the operator. Long lists are logged with their length and their first items.

const maxListed = 5

export const watchNodes = (log: Logger): NodeWatch => ({
  cannotListen: () =>
    log.warn(
      'LISTEN/NOTIFY does not work on this connection (transaction-mode pooler?); falling back to polling: ' +
        'notifications that other nodes commit are sent after the next poll, and those of a killed node when their ' +
        'leases end',
    ),
  died: (node, leases) => log.warn({ node, leases }, 'a node died: its deliveries are sent again'),
})

export const watchReading = (log: Logger): { leftOut: OnSkippedRow; unreadable: OnUnreadable } => ({
  leftOut: ({ error, payments }) =>
    log.warn(
      { error: String(error), count: payments.length, payments: payments.slice(0, maxListed) },
      'payments could not be ended',
    ),
  unreadable: merchants =>
    log.warn(
      { count: merchants.length, merchants: merchants.slice(0, maxListed) },
      'merchant settings cannot be read: run tollgate doctor',
    ),
})

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
        { error: String(error), count: payments.length, payments: payments.slice(0, maxListed) },
        'personal details could not be removed',
      ),
  }
}
