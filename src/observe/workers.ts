import type { Logger } from 'pino'
import type { OnUnreadable } from '../actions/merchants/setMerchant.ts'
import type { RedactionWatch } from '../actions/redaction/redact.ts'
import type { OnSkippedRow } from '../runtime/skippedRows.ts'
import type { LedgerWatch } from '../workers/ledger.ts'
import type { NodeWatch } from '../workers/node.ts'
import type { Metrics } from './metrics.ts'

// Log lines and metrics of background work. Of a long list, the log has the length and the first items.

const maxListed = 5

export const watchNodes = (log: Logger): NodeWatch => ({
  cannotListen: () =>
    log.warn(
      'LISTEN/NOTIFY does not work on this connection (transaction-mode pooler?); falling back to polling: ' +
        'notifications that other nodes commit are sent after the next poll, and those of a killed node when their ' +
        'leases end. Set TOLLGATE_DIRECT_DATABASE_URL to PostgreSQL itself',
    ),
  died: (node, leases) => log.warn({ node, leases }, 'a node died: its deliveries are sent again'),
})

const logSkipped =
  (log: Logger, message: string): OnSkippedRow =>
  ({ error, payments }) =>
    log.warn(
      { error: String(error), count: payments.length, payments: payments.slice(0, maxListed) },
      message,
    )

export const watchReading = (log: Logger): { leftOut: OnSkippedRow; unreadable: OnUnreadable } => ({
  leftOut: logSkipped(log, 'payments could not be ended'),
  unreadable: merchants =>
    log.warn(
      { count: merchants.length, merchants: merchants.slice(0, maxListed) },
      'merchant settings cannot be read: run tollgate doctor',
    ),
})

export function watchRedaction({ counter }: Metrics, log: Logger): RedactionWatch {
  const redacted = counter(
    'tollgate_redacted_payments_total',
    'Payments whose personal details were removed after TOLLGATE_REDACT_DAYS.',
  )
  return {
    redacted: count => redacted.inc(count),
    leftOut: logSkipped(log, 'personal details could not be removed'),
  }
}

export function watchLedger({ counter }: Metrics, log: Logger): LedgerWatch {
  const sealed = counter('tollgate_ledger_sealed_total', 'Transfers of the ledger that were sealed.')
  const late = counter(
    'tollgate_ledger_booked_late_total',
    'Payments whose charges had no transfers and were booked later, except for those from before the ledger.',
  )
  return {
    sealed: transfers => sealed.inc(transfers),
    found({ merchant_id, tx_references, isFirstPass }) {
      const facts = {
        merchant: merchant_id,
        count: tx_references.length,
        payments: tx_references.slice(0, maxListed),
      }
      if (isFirstPass) return log.info(facts, 'payments from before the ledger were booked')
      late.inc(tx_references.length)
      log.warn(
        facts,
        'charges without transfers were found and booked: did a node of an earlier version run?',
      )
    },
  }
}
