import type { Logger } from 'pino'
import { plainLines } from './log.ts'
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
  const writePlainly = plainLines(log)
  return observed => {
    const { route, method, http, code, started } = observed
    const seconds = (performance.now() - started) / 1000
    metrics.requests.inc({ route, method, status: http })
    metrics.seconds.observe({ route }, seconds)
    if (code) metrics.refusals.inc({ code })
    const ms = Math.round(seconds * 10_000) / 10
    if (writePlainly && !observed.cause && !quietRoutes.has(route))
      writePlainly(fieldsOf(observed, ms), 'request')
    else writeLine(log, observed, ms)
  }
}

// Of names that are ours and numbers; what is behind a refusal may be anybody's words.
function fieldsOf({ requestId, method, route, http, merchant_id, code }: Observed, ms: number): string {
  const place = `"method":${inJson(method)},"route":${inJson(route)}`
  const who = merchant_id === undefined ? '' : `,"merchant_id":"${merchant_id}"`
  const why = code === undefined ? '' : `,"code":"${code}"`
  return `"request_id":"${requestId}",${place},"status":${http},"ms":${ms}${who}${why}`
}

// As many as there are methods and routes.
const spelled = new Map<string, string>()
const mostSpelled = 1000

function inJson(word: string): string {
  const known = spelled.get(word)
  if (known !== undefined) return known
  const json = JSON.stringify(word)
  if (spelled.size < mostSpelled) spelled.set(word, json)
  return json
}

function writeLine(log: Logger, observed: Observed, ms: number) {
  const { requestId, method, route, http, merchant_id, code, cause } = observed
  const line = { request_id: requestId, method, route, status: http, ms, merchant_id, code, cause }
  if (cause) log.warn(line, 'request')
  else if (quietRoutes.has(route)) log.debug(line, 'request')
  else log.info(line, 'request')
}
