import type { Logger } from 'pino'
import { infoLineWriter } from './log.ts'
import type { Metrics } from './metrics.ts'

const quietRoutes = new Set(['/healthz', '/readyz', '/metrics', '/self-check', '/public/:file'])

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

// Counts a request and logs it. The line has the route, never the URL, which contains tokens, keys and phone numbers.
export function createObserver(metrics: Metrics, log: Logger): Observe {
  const writeInfo = infoLineWriter(log)
  const routes = new Map<string, Set<string>>() // with their methods
  // The errors of a route exist at 0 since its first request, so that rate() counts the first one.
  function addErrors(route: string, method: string) {
    const known = routes.get(route) ?? new Set()
    if (known.has(method)) return
    routes.set(route, known.add(method))
    for (const status of [500, 503]) metrics.requests.inc({ route, method, status }, 0)
  }
  return observed => {
    const { route, method, http, code, started } = observed
    const seconds = (performance.now() - started) / 1000
    addErrors(route, method)
    metrics.requests.inc({ route, method, status: http })
    metrics.seconds.observe({ route }, seconds)
    if (code) metrics.refusals.inc({ code })
    const ms = Math.round(seconds * 10_000) / 10
    if (writeInfo && !observed.cause && !quietRoutes.has(route)) writeInfo(fieldsOf(observed, ms), 'request')
    else writeLine(log, observed, ms)
  }
}

// Only ids, codes and numbers that need no escaping. `cause` is left out: it may be text of a client.
function fieldsOf({ requestId, method, route, http, merchant_id, code }: Observed, ms: number): string {
  const target = `"method":${inJson(method)},"route":${inJson(route)}`
  const merchant = merchant_id === undefined ? '' : `,"merchant_id":"${merchant_id}"`
  const error = code === undefined ? '' : `,"code":"${code}"`
  return `"request_id":"${requestId}",${target},"status":${http},"ms":${ms}${merchant}${error}`
}

// Caches methods and routes, of which there are few.
const jsonCache = new Map<string, string>()
const maxCached = 1000

function inJson(text: string): string {
  const cached = jsonCache.get(text)
  if (cached !== undefined) return cached
  const json = JSON.stringify(text)
  if (jsonCache.size < maxCached) jsonCache.set(text, json)
  return json
}

function writeLine(log: Logger, observed: Observed, ms: number) {
  const { requestId, method, route, http, merchant_id, code, cause } = observed
  const line = { request_id: requestId, method, route, status: http, ms, merchant_id, code, cause }
  if (cause) log.warn(line, 'request')
  else if (quietRoutes.has(route)) log.debug(line, 'request')
  else log.info(line, 'request')
}
