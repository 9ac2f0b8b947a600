import type { ServerResponse } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { routePath } from 'hono/route'
import type { Logger } from 'pino'
import type { Carries } from '../actions/messages/receiptTo.ts'
import type { MessageRules } from '../core/message/messageRules.ts'
import type { OperatorKeys } from '../core/operator/operatorKeys.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Observe } from '../observe/requests.ts'
import { newRequestId } from '../runtime/ids.ts'
import type { Messengers } from '../runtime/messengers.ts'
import { type Runtime, whyNotReady } from '../runtime/runtime.ts'
import { callbackRoute, webhookRoute } from './callbacks.ts'
import { checkoutRoutes } from './checkout/checkout.tsx'
import { faceRoutes } from './checkout/face.ts'
import { homeRoute, nothingHere } from './home.tsx'
import { notKept } from './http/apiRequest.ts'
import { type Env, respond } from './http/context.ts'
import { bugAnswer, isRefusal, refusalAnswer, wrongMethodAnswer } from './http/errors.ts'
import type { OperatorDoor } from './http/operatorDoor.ts'
import { inboxRoutes } from './inbox/inbox.tsx'
import { metricsRoute } from './metricsRoute.ts'
import { limitSandboxPages } from './sandboxLimit.ts'
import { supportRoutes } from './support/support.tsx'

export type AppOptions = {
  runtime: Runtime
  isStopping(): boolean
  metrics: Metrics
  operatorKeys: OperatorKeys
  metricsToken?: string
  messageRules: MessageRules
  isForThisMachineOnly: boolean
  messengers?: Pick<Messengers, 'configured'> & { carries: Carries }
  sandbox?: Hono<{ Bindings: HttpBindings }>
  trustedProxies: number
  log: Logger
  observe: Observe
}

// Everything but the interface and documents: pages for people, and what watches us.
export function createApp(options: AppOptions) {
  const {
    runtime,
    isStopping,
    metrics,
    operatorKeys,
    metricsToken,
    messageRules,
    isForThisMachineOnly,
    messengers,
    sandbox,
    trustedProxies,
    log,
    observe,
  } = options
  const sharing = (verb: string) => ({ ...runtime, db: runtime.db.share(verb) }) // whoever looks at pages stops no payment
  const app = new Hono<Env>({ strict: false }) // a slash at the end changes nothing
  app.use(async (c, next) => {
    const started = performance.now()
    const requestId = newRequestId()
    c.set('requestId', requestId)
    try {
      await next()
    } finally {
      // What was answered plainly has them already.
      if (!c.finalized || c.res !== c.get('plain')) nameAnswer(c.env.outgoing, requestId)
    }
    const http = c.res.status
    const route = http === 404 || http === 405 ? 'other' : routePath(c, -1)
    observe({ requestId, method: c.req.method, route, http, started })
  })
  app.onError((error, c) => {
    const requestId = c.get('requestId')
    if (isRefusal(error)) return respond(c, refusalAnswer(error, requestId))
    log.error({ request_id: requestId, error: { message: error.message, stack: error.stack } }, 'bug')
    return respond(c, bugAnswer(requestId))
  })
  const { limits } = runtime
  const home = { limits, trustedProxies, isForThisMachineOnly, hasSandbox: sandbox !== undefined }
  app.notFound(c => {
    const allow = methods.filter(method => isTaken(app, method, c.req.path)).join(', ')
    const requestId = c.get('requestId')
    return allow ? respond(c, wrongMethodAnswer(allow, requestId)) : nothingHere(home)(c)
  })

  const { baseUrl, clock } = runtime
  const support: OperatorDoor = {
    name: 'support',
    keys: operatorKeys,
    baseUrl,
    trustedProxies,
    limits,
    clock,
  }
  app.route('/checkout', checkoutRoutes({ runtime, trustedProxies, carries: messengers?.carries }))
  app.route('/public', faceRoutes({ runtime, trustedProxies }))
  app.on(['POST', 'PUT'], '/callbacks/:attempt', callbackRoute({ runtime, trustedProxies }))
  for (const path of ['/callbacks/account/:webhook', '/callbacks/account/:webhook/*'])
    app.on(['POST', 'PUT'], path, webhookRoute({ runtime, metrics, trustedProxies }))
  app.route(
    '/support',
    supportRoutes({ runtime: { ...sharing('support'), rules: messageRules }, door: support }),
  )
  app.route(
    '/inbox',
    inboxRoutes({ runtime: sharing('inbox'), door: support, goesOut: messengers?.configured }),
  )
  if (sandbox) {
    for (const path of ['/sandbox/phone/*', '/sandbox/card/*'])
      app.use(path, limitSandboxPages({ limits, trustedProxies }))
    app.route('/sandbox', sandbox)
  }
  app.get('/', homeRoute(home))
  app.get('/healthz', c => c.text('ok'))
  app.get('/readyz', async c => {
    const why = isStopping() ? 'stopping' : await whyNotReady(runtime)
    return why ? c.text(`not ready: ${why}`, 503) : c.text('ready')
  })
  app.get('/metrics', metricsRoute(metrics, { ...support, name: 'metrics', metricsToken }))
  return app
}

function nameAnswer(outgoing: ServerResponse, requestId: string) {
  outgoing.setHeader('x-request-id', requestId)
  for (const name in notKept) outgoing.setHeader(name, notKept[name as keyof typeof notKept])
}

const methods = ['GET', 'POST', 'PUT']

// By a route of this very method: what looks at every request has none of its own.
const isTaken = (app: Hono<Env>, method: string, path: string) =>
  app.router.match(method, path)[0].some(([[, route]]) => route.method === method)
