import type { Logger } from 'pino'
import type { RefusalOutcome } from '../workers/requestLog.ts'
import type { Metrics } from './metrics.ts'

export function watchRequestLog({ counter }: Metrics, log: Logger) {
  const requests = counter(
    'tollgate_request_log_total',
    'Refused API requests by what the request log did: stored, over_cap, dropped (the queue was full or the write ' +
      'failed), no_merchant.',
    ['outcome'],
    (['stored', 'over_cap', 'dropped', 'no_merchant'] as const).map(outcome => ({ outcome })),
  )
  return {
    observe: (outcome: RefusalOutcome, count: number) => requests.inc({ outcome }, count),
    trouble: (error: unknown) => log.warn({ error: String(error) }, 'error in the request log'),
  }
}
