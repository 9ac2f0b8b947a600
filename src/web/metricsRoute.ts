import type { Metrics } from '../observe/metrics.ts'
import type { Ctx } from './http/context.ts'
import { isRefusal } from './http/errors.ts'
import { accessOf, type OperatorDoor } from './http/operatorDoor.ts'

// The numbers tell how a business goes, so they are for whoever runs it.
export const metricsRoute = (metrics: Metrics, door: OperatorDoor) => async (c: Ctx) => {
  const access = accessOf(c.env.incoming, tokenOf(c.req.header('authorization') ?? ''), door)
  if (access === 'granted')
    return c.text(await metrics.registry.metrics(), 200, { 'content-type': metrics.registry.contentType })
  if (isRefusal(access))
    return c.text(tooOften, 429, { 'retry-after': String(access.retryAfterSeconds ?? 1) })
  return c.text(access === 'shut' ? shut : wrong, 403)
}

const shut =
  'These numbers are shut: set TOLLGATE_METRICS_TOKEN on the gateway, and send it as a bearer token.\n' +
  'Without it only the machine itself may read them, where the gateway listens on loopback, has no\n' +
  'TOLLGATE_BASE_URL and trusts no proxy.\n'
const wrong = 'Send TOLLGATE_METRICS_TOKEN as a bearer token.\n'
const tooOften = 'Too many wrong tokens came from this address. Wait for Retry-After seconds.\n'

const tokenOf = (header: string) => /^bearer +(.+)$/i.exec(header)?.[1]
