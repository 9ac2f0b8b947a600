import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Metrics } from '../observe/metrics.ts'
import { createObserver } from '../observe/requests.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { createSandbox } from '../sandbox/sandbox.ts'
import type { Db } from '../store/db.ts'
import { createApi } from '../web/api/api.ts'
import { type AppOptions, createApp } from '../web/app.ts'
import { createDocuments } from '../web/documents/documents.ts'
import { serveSdkPackage } from '../web/documents/sdkPackage.ts'
import { refuseNonCanonicalRequests } from '../web/nonCanonicalRequest.tsx'
import { allDocuments } from '../web/openapi/docsPage.tsx'
import type { Answerer, Listening } from '../web/server/server.ts'
import { messageRules } from './messages.ts'

type WebDeps = Pick<AppOptions, 'messengers' | 'operatorKeys' | 'sandbox'> & {
  runtime: Runtime
  metrics: Metrics
  log: Logger
  isOverloaded(): boolean
}

// Starts to answer requests. The API and the documents bypass the framework, because they get most of the load.
export function serveWeb(opened: Listening, config: Config, deps: WebDeps) {
  const { runtime, metrics, log, isOverloaded, operatorKeys, messengers, sandbox } = deps
  const observe = createObserver(metrics, log)
  const { baseUrl } = runtime
  const shared = { runtime, baseUrl, log, observe, trustedProxies: config.TOLLGATE_TRUST_PROXY }
  const api = createApi(shared)
  const documents = createDocuments({ ...shared, documents: allDocuments(baseUrl), isOverloaded })
  const odd = refuseNonCanonicalRequests(observe)
  const app = createApp({
    ...shared,
    isStopping: opened.isStopping,
    metrics,
    operatorKeys,
    metricsToken: config.TOLLGATE_METRICS_TOKEN,
    messageRules: messageRules(config),
    isForThisMachineOnly: config.isForThisMachineOnly,
    messengers,
    sandbox,
  })
  const sdkPackage = serveSdkPackage(observe)
  const first: Answerer = (...exchange) =>
    api(...exchange) || documents(...exchange) || sdkPackage(...exchange) || odd(...exchange)
  opened.serve(first, app, observe)
}

type SandboxDeps = {
  db: Db
  clock(): Date
  formKey: Buffer
  baseUrl: string
  timeScale?: number
  log: Logger
}

// The simulated provider of test payments. Its provider module calls it at this gateway's own address, with a key that is
// made at each start: no other client needs it.
export function openSandbox({ TOLLGATE_SANDBOX }: Config, url: string, deps: SandboxDeps) {
  if (!TOLLGATE_SANDBOX) return undefined
  const key = randomBytes(24).toString('hex')
  const { app, stop } = createSandbox({ ...deps, key })
  return { app, stop, settings: { SANDBOX_URL: url, SANDBOX_KEY: key } }
}
