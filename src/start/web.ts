import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Metrics } from '../observe/metrics.ts'
import { createObserver } from '../observe/requests.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { createApi } from '../web/api/api.ts'
import { type AppOptions, createApp } from '../web/app.ts'
import { createDocuments } from '../web/documents/documents.ts'
import { refuseOddRequests } from '../web/oddRequest.tsx'
import { allDocuments } from '../web/openapi/docsPage.tsx'
import type { Answerer, Listening } from '../web/server/server.ts'
import { messageRules } from './messages.ts'

type WebDeps = Pick<AppOptions, 'messengers' | 'operatorKeys' | 'sandbox'> & {
  runtime: Runtime
  metrics: Metrics
  log: Logger
  isOverloaded(): boolean
}

// From here on requests are answered: the interface and documents by hand, because they come in crowds, the rest by the
// framework.
export function serveWeb(opened: Listening, config: Config, deps: WebDeps) {
  const { runtime, metrics, log, isOverloaded, operatorKeys, messengers, sandbox } = deps
  const observe = createObserver(metrics, log)
  const { baseUrl } = runtime
  const shared = { runtime, baseUrl, log, observe, trustedProxies: config.TOLLGATE_TRUST_PROXY }
  const api = createApi(shared)
  const documents = createDocuments({ ...shared, documents: allDocuments(baseUrl), isOverloaded })
  const odd = refuseOddRequests(observe)
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
  const first: Answerer = (...exchange) => api(...exchange) || documents(...exchange) || odd(...exchange)
  opened.serve(first, app, observe)
}
