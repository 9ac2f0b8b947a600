import type { MiddlewareHandler } from 'hono'
import { routePath } from 'hono/route'
import type { Logger } from 'pino'
import { newRequestId } from '../actions/ids.ts'
import type { Env } from './context.ts'
import type { Metrics } from './metrics.ts'

const quietRoutes = new Set(['/healthz', '/readyz', '/metrics', '/public/:file'])

// Gives every request its id, counts it and writes one line about it. The line has the route, never the
// address that was called: that holds tokens, keys and phone numbers.
export const observeRequests =
  (metrics: Metrics, log: Logger): MiddlewareHandler<Env> =>
  async (c, next) => {
    const started = performance.now()
    const requestId = newRequestId()
    c.set('requestId', requestId)
    c.env.outgoing.setHeader('x-request-id', requestId) // on Node's own response: the quick way out stays open
    await next()
    const ms = performance.now() - started
    const route = c.res.status === 404 && !c.get('code') ? 'other' : routePath(c, -1)
    const code = c.get('code')
    metrics.requests.inc({ route, method: c.req.method, status: c.res.status })
    metrics.seconds.observe({ route }, ms / 1000)
    if (code) metrics.refusals.inc({ code })
    const line = {
      request_id: requestId,
      method: c.req.method,
      route,
      status: c.res.status,
      ms: Math.round(ms * 10) / 10,
      merchant_id: c.get('merchantId'),
      code,
    }
    if (quietRoutes.has(route)) log.debug(line, 'request')
    else log.info(line, 'request')
  }
