import type { Logger } from 'pino'
import type { Metrics } from './metrics.ts'

const quietRoutes = new Set(['/healthz', '/readyz', '/metrics', '/public/:file'])

export type Observed = {
  requestId: string
  method: string
  route: string
  http: number
  started: number // monotonic milliseconds
  merchant_id?: string
  code?: string
  cause?: string
}

export type Observe = (observed: Observed) => void

// Counts a request and writes one line about it. The line has the route, never the address that was called:
// that holds tokens, keys and phone numbers.
export function createObserver(metrics: Metrics, log: Logger): Observe {
  return ({ requestId, method, route, http, started, merchant_id, code, cause }) => {
    const ms = performance.now() - started
    metrics.requests.inc({ route, method, status: http })
    metrics.seconds.observe({ route }, ms / 1000)
    if (code) metrics.refusals.inc({ code })
    const line = {
      request_id: requestId,
      method,
      route,
      status: http,
      ms: Math.round(ms * 10) / 10,
      merchant_id,
      code,
      cause,
    }
    if (cause) log.warn(line, 'request')
    else if (quietRoutes.has(route)) log.debug(line, 'request')
    else log.info(line, 'request')
  }
}
