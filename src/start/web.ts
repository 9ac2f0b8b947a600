import { createHmac } from 'node:crypto'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { RecordRefusal } from '../core/interface/refusedRequest.ts'
import type { Metrics } from '../observe/metrics.ts'
import { createObserver } from '../observe/requests.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { createSandbox } from '../sandbox/sandbox.ts'
import type { Db } from '../store/db.ts'
import { createApi } from '../web/api/api.ts'
import { type AppOptions, createApp, createDashboardApp, createWorkerApp } from '../web/app.ts'
import { createDocuments } from '../web/documents/documents.ts'
import { serveSdkPackage } from '../web/documents/sdkPackage.ts'
import { refuseNonCanonicalRequests } from '../web/nonCanonicalRequest.tsx'
import { allDocuments } from '../web/docs/allDocuments.tsx'
import type { Answerer } from '../web/server/server.ts'
import { messageRules } from './messages.ts'
import type { Ports } from './ports.ts'

type WebDeps = Pick<
  AppOptions,
  'providers' | 'masterKeys' | 'messengers' | 'operatorKeys' | 'sandbox' | 'sendToMerchant' | 'shop'
> & {
  runtime: Runtime
  metrics: Metrics
  log: Logger
  isOverloaded(): boolean
  recordRefusal: RecordRefusal
  hasDemo: boolean
  erasingMs?: number
}

// Starts to answer requests. The API and the documents bypass the framework, because they get most of the load.
export function serveWeb(ports: Ports, config: Config, deps: WebDeps) {
  const { runtime, metrics, log, isOverloaded, operatorKeys, messengers, sandbox, shop } = deps
  const observe = createObserver(metrics, log)
  const { baseUrl } = runtime
  const shared = { runtime, baseUrl, log, observe, trustedProxies: config.TOLLGATE_TRUST_PROXY }
  const api = createApi({ ...shared, recordRefusal: deps.recordRefusal })
  const { isForThisMachineOnly } = config
  const site = { hasSandbox: sandbox !== undefined, isForThisMachineOnly }
  const documents = createDocuments({
    ...shared,
    documents: allDocuments(baseUrl, site),
    isOverloaded,
    mayMakeFor: runtime.limits.maySearchDocs,
  })
  const odd = refuseNonCanonicalRequests(observe, baseUrl)
  const options = {
    ...shared,
    hasOwnDashboard: ports.dashboard !== undefined,
    role: config.TOLLGATE_ROLE,
    isStopping: ports.main.isStopping,
    isOverloaded,
    metrics,
    masterKeys: deps.masterKeys,
    providers: deps.providers,
    operatorKeys,
    sendToMerchant: deps.sendToMerchant,
    metricsTokens: config.TOLLGATE_METRICS_TOKEN,
    messageRules: messageRules(config),
    isForThisMachineOnly,
    hasDemo: deps.hasDemo,
    erasingMs: deps.erasingMs,
    redactDays: config.TOLLGATE_REDACT_DAYS,
    messengers,
    sandbox,
    shop,
  }
  if (config.TOLLGATE_ROLE === 'worker')
    return ports.main.serve(odd, createWorkerApp(options), observe, baseUrl())
  const sdkPackage = serveSdkPackage(observe, baseUrl)
  const first: Answerer = (...exchange) =>
    api(...exchange) || documents(...exchange) || sdkPackage(...exchange) || odd(...exchange)
  ports.main.serve(first, createApp(options), observe, baseUrl())
  const pages: Answerer = (...exchange) => documents(...exchange) || odd(...exchange)
  ports.dashboard?.serve(pages, createDashboardApp(options), observe, runtime.dashboardUrl())
}

type SandboxDeps = {
  db: Db
  clock(): Date
  formKey: Buffer
  baseUrl: string
  timeScale?: number
  log: Logger
}

// The simulated provider of test payments. Its provider module calls it at this gateway's own address, where another process
// of the same gateway may answer (TOLLGATE_PROCESSES). So the key is the same in all of them; no other client needs it.
export function openSandbox(config: Config, url: string, deps: SandboxDeps) {
  if (!config.TOLLGATE_SANDBOX) return undefined
  const key = createHmac('sha256', deps.formKey).update('simulated provider').digest('hex')
  const { isForThisMachineOnly } = config
  const { app, stop } = createSandbox({ ...deps, key, isForThisMachineOnly })
  return { app, stop, settings: { SANDBOX_URL: url, SANDBOX_KEY: key } }
}
