import type { ServerResponse } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import { type ErrorHandler, Hono, type MiddlewareHandler, type Next } from 'hono'
import { routePath } from 'hono/route'
import type { Logger } from 'pino'
import { waitingUserMails } from '../actions/access/sendUserMails.ts'
import { answerSelf, selfCheckHeader, selfCheckPath } from '../core/operator/selfCheck.ts'
import type { NodeRole } from '../core/operator/nodeList.ts'
import type { Observe } from '../observe/requests.ts'
import { isTraced } from '../core/traces.ts'
import { newRequestId } from '../runtime/ids.ts'
import type { RateLimits } from '../runtime/rateLimits.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { callbackRoute, webhookRoute } from './callbacks.ts'
import { brandingRoutes } from './checkout/brandingRoutes.ts'
import { checkoutRoutes } from './checkout/checkout.tsx'
import { errorPage } from './checkout/open.tsx'
import { demoKeysRoute } from './docs/demoKeysRoute.ts'
import { allDashboardRoutes } from './dashboard/allRoutes.ts'
import type { AreaDeps } from './dashboard/areaDeps.ts'
import { enterFirstVisit } from './dashboard/firstVisit/firstVisitRoutes.tsx'
import { dashboardRoutes } from './dashboard/dashboard.tsx'
import { homeRoute, notFoundRoute } from './home.tsx'
import { addressOf, notCached } from './http/apiRequest.ts'
import { type Ctx, type Env, errorContext, respond } from './http/context.ts'
import { bugAnswer, isRefusal, notFoundAnswer, refusalAnswer, wrongMethodAnswer } from './http/errors.ts'
import { accessOf, type OperatorAuth } from './http/operatorAuth.ts'
import { inRequestSpan } from './http/requestSpan.ts'
import { inboxRoutes } from './inbox/inbox.tsx'
import type { DemoShop } from './shop/demoShop.ts'
import { createShopPages } from './shop/shopRoutes.tsx'
import type { EnterFirstVisit } from './support/signIn.tsx'
import { supportRoutes } from './support/support.tsx'

export type AppOptions = AreaDeps & {
  role: NodeRole
  isStopping(): boolean
  hasOwnDashboard?: boolean // an address of its own, so this one does not serve it
  metricsTokens?: readonly string[]
  sandbox?: Hono<{ Bindings: HttpBindings }>
  shop?: DemoShop
  log: Logger
  observe: Observe
}

// The routes outside the API and the documents: the pages, the callbacks of providers, health checks and metrics.
export function createApp(options: AppOptions) {
  const { runtime, metrics, messengers, sandbox, trustedProxies } = options
  const { limits } = runtime
  const app = newApp(options)
  const { isForThisMachineOnly } = options
  const shop = options.shop && createShopPages({ ...options, shop: options.shop })
  const hasSandbox = sandbox !== undefined
  const home = { limits, trustedProxies, isForThisMachineOnly, hasSandbox, shopHome: shop?.home }
  app.notFound(c => {
    const allow = methods.filter(method => hasRoute(app, method, c.req.path)).join(', ')
    return allow ? respond(c, wrongMethodAnswer(allow, errorContext(c))) : notFoundRoute(home)(c)
  })
  app.route('/checkout', checkoutRoutes({ runtime, trustedProxies, canSend: messengers?.carries }))
  app.route('/public', brandingRoutes({ runtime, trustedProxies }))
  app.on(['POST', 'PUT'], '/callbacks/:attempt', callbackRoute({ runtime, trustedProxies }))
  for (const path of ['/callbacks/account/:webhook', '/callbacks/account/:webhook/*'])
    app.on(['POST', 'PUT'], path, webhookRoute({ runtime, metrics, trustedProxies }))
  const auth = operatorAuthOf(options, runtime.baseUrl)
  addOperatorPages(app, options, auth, options.hasOwnDashboard ? undefined : enterFirstVisit(options))
  if (!options.hasOwnDashboard) app.route('/dashboard', dashboardRoutes(options, allDashboardRoutes(options)))
  if (sandbox) {
    for (const path of ['/sandbox/phone/*', '/sandbox/card/*'])
      app.use(path, limitSandboxPages(limits, trustedProxies))
    app.route('/sandbox', sandbox)
  }
  if (isForThisMachineOnly) app.get('/docs/demo-keys', demoKeysRoute(runtime))
  if (shop) app.route('/shop', shop.routes)
  app.get('/', homeRoute(home))
  addHealthChecks(app, options)
  app.get('/metrics', metricsRoute(options, auth))
  app.get(selfCheckPath, selfCheckRoute(options))
  return app
}

// A worker node has what its operator reads, and the simulated provider, which its own workers call.
export function createWorkerApp(options: AppOptions) {
  const { runtime, sandbox } = options
  const app = newApp(options)
  app.notFound(c => c.text('This node runs workers only (TOLLGATE_ROLE=worker). Ask a web node.\n', 404))
  if (sandbox) {
    app.use('/sandbox/*', (c, next) =>
      c.req.path.startsWith('/sandbox/provider/') ? next() : Promise.resolve(c.notFound()),
    )
    app.route('/sandbox', sandbox)
  }
  addHealthChecks(app, options)
  app.get('/metrics', metricsRoute(options, operatorAuthOf(options, runtime.baseUrl)))
  return app
}

function addHealthChecks(app: Hono<Env>, { runtime, isStopping, role }: AppOptions) {
  app.get('/healthz', c => c.text('ok'))
  app.get('/readyz', async c => {
    const reason = isStopping() ? 'stopping' : await runtime.whyNotReady()
    if (reason) return c.text(`not ready: ${reason}`, 503)
    return c.text(role === 'all' ? 'ready' : `ready: ${role}`)
  })
}

// A dashboard with an address of its own, and the operator's other pages beside it. Customers and merchants' texts in
// their checkouts have another origin. What belongs to them leads there.
export function createDashboardApp(options: AppOptions) {
  const { runtime, trustedProxies } = options
  const { baseUrl, dashboardUrl } = runtime
  const app = newApp(options)
  app.notFound(c => respond(c, notFoundAnswer(errorContext(c))))
  app.route('/dashboard', dashboardRoutes(options, allDashboardRoutes(options)))
  addOperatorPages(app, options, operatorAuthOf(options, dashboardUrl), enterFirstVisit(options))
  app.route('/public', brandingRoutes({ runtime, trustedProxies })) // the logos of merchants
  app.get('/', c => c.redirect('/dashboard', 303))
  for (const path of ['/checkout/*', '/sandbox/*', '/shop/*'])
    app.get(path, c => c.redirect(`${baseUrl()}${c.req.path}`, 303))
  app.get('/healthz', c => c.text('ok'))
  app.get(selfCheckPath, selfCheckRoute(options))
  return app
}

function newApp({ observe, runtime, log }: AppOptions) {
  const app = new Hono<Env>({ strict: false }) // a trailing slash is ignored
  app.use(observeRequests(observe, runtime))
  app.onError(answerError(log))
  return app
}

const operatorAuthOf = ({ operatorKeys, trustedProxies, runtime }: AppOptions, baseUrl: () => string) =>
  ({
    name: 'support',
    keys: operatorKeys,
    baseUrl,
    trustedProxies,
    limits: runtime.limits,
    clock: runtime.clock,
  }) as const

// These pages have their own quota of database connections, so that they cannot hold up payments.
function addOperatorPages(app: Hono<Env>, options: AppOptions, auth: OperatorAuth, enter?: EnterFirstVisit) {
  const { runtime, messageRules, messengers, isForThisMachineOnly } = options
  const withQuota = (name: string) => ({ ...runtime, db: runtime.db.withQuota(name) })
  const support = { ...withQuota('support'), baseUrl: auth.baseUrl, rules: messageRules }
  app.route('/support', supportRoutes({ runtime: support, auth, enterFirstVisit: enter }))
  const inbox = withQuota('inbox')
  const isSent = messengers?.configured
  // The support token opens the inbox, and must not open the accounts of users. On this machine only, newcomers find the
  // link of an invitation there.
  const showsUserMails = isForThisMachineOnly && !isSent?.('email')
  const userMails = showsUserMails ? () => waitingUserMails(inbox, inbox.clock()) : undefined
  app.route('/inbox', inboxRoutes({ runtime: inbox, auth, isSent, userMails }))
}

// Assigns an id to each request, and logs and counts its answer.
const observeRequests =
  (observe: Observe, { baseUrl, traces }: Pick<Runtime, 'baseUrl' | 'traces'>): MiddlewareHandler<Env> =>
  async (c, next) => {
    const started = performance.now()
    const requestId = newRequestId()
    c.set('requestId', requestId)
    c.set('baseUrl', baseUrl())
    async function answer() {
      try {
        await next()
      } finally {
        // A plainResponse() has these headers already.
        if (!c.finalized || c.res !== c.get('plain')) setCommonHeaders(c.env.outgoing, requestId)
      }
      const http = c.res.status
      return { route: http === 404 || http === 405 ? 'other' : routePath(c, -1), http }
    }
    const { method, path } = c.req
    const { incoming } = c.env
    const { route, http } =
      isTraced() && !untraced.test(path)
        ? await inRequestSpan({ incoming, method, requestId, continues: await traces.ofPath(path) }, answer)
        : await answer()
    observe({ requestId, method, route, http, started })
  }

const untraced = /^\/(healthz|readyz|metrics|public\/.*)$/

const answerError =
  (log: Logger): ErrorHandler<Env> =>
  (error, c) => {
    const requestId = c.get('requestId')
    if (isRefusal(error)) return respond(c, refusalAnswer(error, errorContext(c)))
    log.error({ request_id: requestId, error: { message: error.message, stack: error.stack } }, 'bug')
    return respond(c, bugAnswer(errorContext(c)))
  }

function setCommonHeaders(outgoing: ServerResponse, requestId: string) {
  outgoing.setHeader('x-request-id', requestId)
  for (const name in notCached) outgoing.setHeader(name, notCached[name as keyof typeof notCached])
}

const methods = ['GET', 'POST', 'PUT']

// Middleware matches every method, so only a route with exactly this method counts.
const hasRoute = (app: Hono<Env>, method: string, path: string) =>
  app.router.match(method, path)[0].some(([[, route]]) => route.method === method)

// The metrics reveal the turnover of a business, so only its operator may read them.
const metricsRoute =
  ({ metrics, metricsTokens }: AppOptions, auth: OperatorAuth) =>
  async (c: Ctx) => {
    const access = accessOf(c, { ...auth, name: 'metrics', metricsTokens })
    if (access === 'granted')
      return c.text(await metrics.text(), 200, { 'content-type': metrics.registry.contentType })
    if (isRefusal(access))
      return c.text(tooOften, 429, { 'retry-after': String(access.retryAfterSeconds ?? 1) })
    return c.text(refused, 403)
  }

// For doctor, which asks through the proxies in front of the gateway.
const selfCheckRoute =
  ({ operatorKeys, runtime, trustedProxies }: AppOptions) =>
  (c: Ctx) => {
    const proof = answerSelf(operatorKeys, c.req.header(selfCheckHeader) ?? '', runtime.clock())
    if (proof === undefined) return respond(c, notFoundAnswer(errorContext(c)))
    const address = addressOf(c.env.incoming, trustedProxies)
    const forwarded_for = c.req.header('x-forwarded-for') ?? ''
    return c.json({ proof, address, forwarded_for, trusted_proxies: trustedProxies })
  }

const refused =
  'Send TOLLGATE_METRICS_TOKEN or the support token as a bearer token.\n' +
  'On the machine of the gateway, tollgate support token prints the support token.\n'
const tooOften = 'Too many wrong tokens were sent from this address. Wait for Retry-After seconds.\n'

// The sandbox's pages need no token, and each reads the database.
const limitSandboxPages =
  (limits: Pick<RateLimits, 'visitSandbox'>, trustedProxies: number) => async (c: Ctx, next: Next) => {
    try {
      limits.visitSandbox(addressOf(c.env.incoming, trustedProxies))
    } catch (error) {
      if (!isRefusal(error)) throw error
      return errorPage(error, c)
    }
    return next()
  }
