import type { Logger } from 'pino'
import type { StatusUpdate } from '../core/payment/change.ts'
import type { Metrics } from './metrics.ts'

// Counts how attempts end and the states of refunds, and raises an alarm for every new task. The log has references, no personal data.
export function watchAttempts(metrics: Metrics, log: Logger) {
  return ({ attempt, events, tasks }: StatusUpdate) => {
    const { payment_method, provider_account, attempt_id } = attempt
    for (const { kind, reason } of events) {
      if (kind.startsWith('refund_'))
        metrics.refunds.inc({ provider_account, state: kind.slice('refund_'.length) })
      if (!kind.startsWith('attempt_')) continue
      metrics.attempts.inc({ payment_method, state: kind.slice('attempt_'.length) })
      if (kind === 'attempt_unknown')
        log.warn({ provider_account, attempt_id, reason }, 'no clear answer from the provider')
      if (kind === 'attempt_failed' && attempt.reason === 'account_trouble') {
        metrics.alarms.inc({ kind: 'account_trouble' })
        log.error(
          { provider_account, attempt_id },
          'the provider refuses the account: run tollgate provider test',
        )
      }
      if (kind === 'attempt_not_sent')
        log.warn({ provider_account, attempt_id, reason }, 'an order could not be sent')
    }
    for (const { kind, note, merchant_id, tx_reference } of tasks) {
      metrics.alarms.inc({ kind })
      log.error({ merchant_id, tx_reference, attempt_id, task: kind, note }, 'a task needs an operator')
    }
  }
}
