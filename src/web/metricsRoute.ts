import type { Ctx } from './context.ts'
import { isLocal } from './local.ts'
import type { Metrics } from './metrics.ts'

// Without a token only this machine may look: the numbers tell how a business goes.
export const metricsRoute = (metrics: Metrics, token?: string) => async (c: Ctx) => {
  const mayRead = token ? c.req.header('authorization') === `Bearer ${token}` : isLocal(c)
  if (!mayRead)
    return c.text(
      'Set TOLLGATE_METRICS_TOKEN and send it as a bearer token to read this from elsewhere.\n',
      403,
    )
  return c.text(await metrics.registry.metrics(), 200, { 'content-type': metrics.registry.contentType })
}
