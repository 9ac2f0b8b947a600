import { Hono } from 'hono'
import { secureHeaders } from 'hono/secure-headers'
import type { Logger } from 'pino'
import { whyNotReady } from '../actions/gate.ts'
import { formDoorRoute } from './api/formDoor.tsx'
import { type ApiOptions, initiateRoute } from './api/initiate.ts'
import { statusLineRoute, statusRoute } from './api/status.ts'
import { checkoutRoute } from './checkout/checkout.tsx'
import { addressOf, type Env } from './context.ts'
import { docsRoutes } from './docs.ts'
import { answerBug, answerNotFound, answerRefusal, answerWrongMethod, isRefusal } from './errors.ts'
import { type Metrics, watch } from './metrics.ts'
import { openapiDocument } from './openapi.ts'
import { publicFile } from './publicFile.ts'
import { observeRequests } from './requests.ts'

export type AppOptions = ApiOptions & { metrics: Metrics; metricsToken?: string; log: Logger }

export function createApp(options: AppOptions) {
  const { gate, metrics, log } = options
  const app = new Hono<Env>({ strict: false }) // a slash at the end changes nothing
  app.use(observeRequests(metrics, log))
  app.onError((error, c) => {
    if (isRefusal(error)) {
      if (error.http === 503)
        log.warn({ request_id: c.get('requestId'), cause: String(error.cause) }, 'unavailable')
      return answerRefusal(c, error)
    }
    log.error(
      { request_id: c.get('requestId'), error: { message: error.message, stack: error.stack } },
      'bug',
    )
    return answerBug(c)
  })
  app.notFound(answerNotFound)

  app.post('/v1/mobile_agents_v2', initiateRoute(options))
  app.all('/v1/mobile_agents_v2', answerWrongMethod('POST'))
  app.on(['GET', 'POST'], '/v1/gateway/json_status_chk', statusRoute(options, false))
  app.on(['GET', 'POST'], '/gateway/json_status_chk', statusRoute(options, true))
  app.on(['GET', 'POST'], ['/v1/gateway/status_chk', '/gateway/status_chk'], statusLineRoute(options))
  app.on(['GET', 'POST'], ['/gateway', '/gateway/checkout'], pageHeaders, formDoorRoute(options))
  app.get('/checkout/:token', pageHeaders, checkoutRoute(gate))
  app.get('/public/:file', publicFile(new URL('./public/', import.meta.url)))

  app.get('/openapi.json', c => c.json(openapiDocument(options.baseUrl())))
  app.route('/docs', docsRoutes())

  app.get('/healthz', c => c.text('ok'))
  app.get('/readyz', async c => {
    const why = await whyNotReady(gate)
    return why ? c.text(`not ready: ${why}`, 503) : c.text('ready')
  })

  watch(metrics, 'tollgate_pool_connections', 'Database connections, by what they do.', gate.db.stats)
  watch(metrics, 'tollgate_queue_depth', 'Callers that wait for a statement, by kind.', () => ({
    initiation: gate.payments.depth(),
    status: gate.lookups.depth(),
    merchant: gate.callers.depth(),
  }))
  app.get('/metrics', async c => {
    if (
      !mayReadMetrics(
        c.req.header('authorization'),
        options.metricsToken,
        isLocal(addressOf(c, 0)) && !c.req.header('x-forwarded-for'),
      )
    )
      return c.text(
        'Set TOLLGATE_METRICS_TOKEN and send it as a bearer token to read this from elsewhere.\n',
        403,
      )
    return c.text(await metrics.registry.metrics(), 200, { 'content-type': metrics.registry.contentType })
  })
  return app
}

// Without a token only this machine may look: the numbers tell how a business goes.
const mayReadMetrics = (authorization: string | undefined, token: string | undefined, local: boolean) =>
  token ? authorization === `Bearer ${token}` : local

const isLocal = (address: string) => /^(127\.|::1$|::ffff:127\.)/.test(address)

// A customer's page loads from us alone, shows in no frame, and tells nobody its address.
const pageHeaders = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
  },
  referrerPolicy: 'no-referrer',
  xFrameOptions: 'DENY',
  strictTransportSecurity: false, // the operator's proxy speaks TLS, and decides
})
