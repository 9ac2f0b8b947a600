import type { Logger } from 'pino'
import type { RecordRefusal } from '../../core/interface/refusedRequest.ts'
import type { Observe } from '../../observe/requests.ts'
import { newRequestId } from '../../runtime/ids.ts'
import { addressOf, type ApiAnswer, type Exchange, sendAnswer, splitUrl } from '../http/apiRequest.ts'
import { bugAnswer, isRefusal, refusalAnswer, wrongMethodAnswer } from '../http/errors.ts'
import { inRequestSpan } from '../http/requestSpan.ts'
import type { Answerer } from '../server/server.ts'
import { eventsRoute } from './events.ts'
import { type ApiOptions, webFormRoute, initiateRoute } from './initiate.tsx'
import { refundCheckRoute, refundRoute } from './refunds.ts'
import { requestsRoute } from './requests.ts'
import { statusLineRoute, statusRoute } from './status.ts'
import { clockRoute, triggerRoute } from './testing.ts'

type Handler = (exchange: Exchange) => Promise<ApiAnswer>
type Route = Partial<Record<string, Handler>> // by method

const refundPath = '/v1/refunds/{refund_id}'

const getAndPost = (handler: Handler): Route => ({ GET: handler, POST: handler })

// The API routes by path. A parameter is the whole last part of a path.
export function routesOf(options: ApiOptions): Map<string, Route> {
  return new Map([
    ['/v1/mobile_agents_v2', { POST: initiateRoute(options) }],
    ['/v1/gateway/json_status_chk', getAndPost(statusRoute(options, false))],
    ['/gateway/json_status_chk', getAndPost(statusRoute(options, true))],
    ['/v1/gateway/status_chk', getAndPost(statusLineRoute(options))],
    ['/gateway/status_chk', getAndPost(statusLineRoute(options))],
    ['/v1/events', { GET: eventsRoute(options) }],
    ['/v1/refunds', { POST: refundRoute(options) }],
    [refundPath, { GET: refundCheckRoute(options) }],
    ['/v1/requests', { GET: requestsRoute(options) }],
    ['/v1/test/triggers', { POST: triggerRoute(options) }],
    ['/v1/test/clock', { POST: clockRoute(options) }],
    ['/gateway', getAndPost(webFormRoute(options))],
    ['/gateway/checkout', getAndPost(webFormRoute(options))],
    ['/', getAndPost(webFormRoute(options))],
  ])
}

// A request for the root without a merchant_key is a visitor, who gets the home page.
const refundsPrefix = '/v1/refunds/'

const hasMerchantKey = (query: string) => new URLSearchParams(query).has('merchant_key')

type CreateOptions = ApiOptions & {
  trustedProxies: number
  log: Logger
  observe: Observe
  recordRefusal?: RecordRefusal
}

export function createApi(options: CreateOptions): Answerer {
  const { trustedProxies, log, observe, recordRefusal } = options
  const routes = routesOf(options)

  // Returns false if the address is not part of the API.
  return (incoming, outgoing) => {
    const [path, query] = splitUrl(incoming.url ?? '')
    const name = path.startsWith(refundsPrefix) ? refundPath : path // of the route
    const route = routes.get(name)
    if (!route) return false
    const method = incoming.method === 'HEAD' ? 'GET' : (incoming.method ?? '')
    if (path === '/' && method === 'GET' && !hasMerchantKey(query)) return false
    const requestId = newRequestId()
    const address = addressOf(incoming, trustedProxies)
    const baseUrl = options.baseUrl()
    const lastPart = name === path ? undefined : path.slice(refundsPrefix.length)
    const request = { incoming, method, query, requestId, baseUrl, address }
    const exchange: Exchange = { ...request, lastPart, fields: undefined }
    const started = performance.now()
    const answering = async () => ({ ...(await answerTo(route, exchange)), route: name })
    inRequestSpan({ incoming, method, requestId }, answering)
      .then(answer => {
        sendAnswer(outgoing, answer, requestId)
        const { http, merchant_id, code, cause, refusal } = answer
        observe({ requestId, method, route: name, http, started, merchant_id, code, cause })
        if (refusal) recordRefusal?.({ requestId, method, path, refusal, fields: exchange.fields })
      })
      .catch((error: unknown) => {
        logBug(requestId, error)
        outgoing.destroy()
      })
    return true
  }

  async function answerTo(route: Route, exchange: Exchange): Promise<ApiAnswer> {
    const handler = route[exchange.method]
    const { requestId } = exchange
    if (!handler) return wrongMethodAnswer(Object.keys(route).join(', '), exchange)
    try {
      return await handler(exchange)
    } catch (error) {
      if (isRefusal(error)) return refusalAnswer(error, exchange)
      logBug(requestId, error)
      return bugAnswer(exchange)
    }
  }

  function logBug(request_id: string, error: unknown) {
    const { message, stack } = error instanceof Error ? error : new Error(String(error))
    log.error({ request_id, error: { message, stack } }, 'bug')
  }
}
