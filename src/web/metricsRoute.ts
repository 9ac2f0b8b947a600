import type { Metrics } from '../observe/metrics.ts'
import type { Ctx } from './http/context.ts'
import { isRefusal } from './http/errors.ts'
import { accessOf, type OperatorDoor } from './http/operatorDoor.ts'

// The numbers tell how a business goes, so they are for whoever runs it.
export const metricsRoute = (metrics: Metrics, door: OperatorDoor) => async (c: Ctx) => {
  const access = accessOf(c, door)
  if (access === 'granted')
    return c.text(await metrics.registry.metrics(), 200, { 'content-type': metrics.registry.contentType })
  if (isRefusal(access))
    return c.text(tooOften, 429, { 'retry-after': String(access.retryAfterSeconds ?? 1) })
  return c.text(refused, 403)
}

const refused =
  'Send TOLLGATE_METRICS_TOKEN or the support token as a bearer token.\n' +
  'On the machine of the gateway, tollgate support token prints the support token.\n'
const tooOften = 'Too many wrong tokens came from this address. Wait for Retry-After seconds.\n'
