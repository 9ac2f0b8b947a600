import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Welcome, welcome } from './actions/merchants/welcome.ts'
import type { Config } from './config.ts'
import { watchAttempts } from './observe/attempts.ts'
import { gaugeClock, watchClock } from './observe/clock.ts'
import { createMetrics, watchRuntime } from './observe/metrics.ts'
import { watchReading } from './observe/reading.ts'
import { watchRedaction } from './observe/redaction.ts'
import { createObserver } from './observe/requests.ts'
import { openChannels } from './runtime/channels.ts'
import { createRuntime } from './runtime/runtime.ts'
import { createSandbox } from './sandbox/sandbox.ts'
import { checkDatabase, checkMasterKeys, openDatabase } from './start/database.ts'
import { openDeliveries } from './start/deliveries.ts'
import { openMessages } from './start/messages.ts'
import { rememberStarted, type Started } from './start/started.ts'
import type { Db } from './store/db.ts'
import { migrate } from './store/migrate/migrate.ts'
import { createApi } from './web/api/api.ts'
import { createApp } from './web/app.ts'
import { createDocuments } from './web/documents/documents.ts'
import { refuseOddRequests } from './web/oddRequest.tsx'
import { allDocuments } from './web/openapi/docsPage.ts'
import { watchOverload } from './web/server/overload.ts'
import { type Answerer, listen } from './web/server/server.ts'
import { givenClock, startClock } from './workers/clock.ts'
import { startWorkers } from './workers/payments.ts'
import { startRedaction } from './workers/redaction.ts'

export type Gateway = {
  url: string
  baseUrl: string
  welcome?: Welcome
  embedded: boolean
  stop(): Promise<void>
}

export type GatewayOptions = {
  log: Logger
  onLost?(why: string): void // the embedded database went away under us
  clock?(): Date // instead of the database's
  stopSeconds?: number // between the word that we stop, at /readyz and in every answer, and the stop
  isOverloaded?(): boolean
  mayLosePayments?: boolean // for tests, on a database that does not wait for its disk
  sandboxPace?: number // the simulated provider's waiting times are multiplied by it
}

export async function startGateway(config: Config, options: GatewayOptions): Promise<Gateway> {
  const started = rememberStarted()
  try {
    return await open(config, options, started)
  } catch (error) {
    await started.stop().catch(() => {}) // why it did not start is what counts
    throw error
  }
}

// From the records up to the workers. Whatever is started here is added to what has to be stopped, before the next step
// can fail.
async function open(config: Config, options: GatewayOptions, started: Started): Promise<Gateway> {
  const { log, onLost } = options
  const records = await openDatabase(config, 'gateway', onLost)
  started.add(records.close)
  const { db } = records
  await checkDatabase(records, { durable: !options.mayLosePayments })
  const applied = await migrate(db, { tell: words => log.warn(words) })
  if (applied.length > 0) log.info({ applied }, 'migrated')
  await checkMasterKeys(records)
  const time = options.clock ? givenClock(options.clock) : await startClock(records, watchClock(log))
  started.add(time.stop)
  const { now: clock, pause } = time
  const opened = await listen(config.HOST, config.PORT)
  const stopListening = started.add(opened.stop)
  const url = `http://${nameOf(config.HOST)}:${opened.port}`
  const baseUrl = config.TOLLGATE_BASE_URL ?? url
  const sandbox = openSandbox(config, { ...options, clock }, db, url)
  if (sandbox) started.add(sandbox.stop)
  const metrics = createMetrics()
  const watching = watchAttempts(metrics, log)
  const bell = { pollers: () => {}, senders: () => {} } // nobody hears it before the workers are here
  const runtime = createRuntime({
    db,
    masterKeys: records.masterKeys,
    batchRows: config.TOLLGATE_BATCH_ROWS,
    poolSize: config.TOLLGATE_POOL_SIZE,
    channels: await openChannels({ ...config.channelSettings, ...sandbox?.settings }),
    baseUrl: () => baseUrl,
    clock,
    observeBatch: (kind, rows) => metrics.batchRows.observe({ kind }, rows),
    watch: change => {
      watching(change)
      if (change.events.some(({ kind }) => kind === 'status_changed')) runtime.wake('senders')
    },
    wake: who => bell[who](),
  })
  watchRuntime(metrics, runtime)
  gaugeClock(metrics, time)
  const post = await openMessages(config, { db, clock, pause, baseUrl: runtime.baseUrl, metrics, log })
  const stopPost = started.add(post.stop)
  const trustedProxies = config.TOLLGATE_TRUST_PROXY
  const shared = {
    runtime,
    baseUrl: runtime.baseUrl,
    log,
    observe: createObserver(metrics, log),
    trustedProxies,
  }
  const overload = watchOverload()
  started.add(overload.stop)
  const isOverloaded = options.isOverloaded ?? overload.isOverloaded
  const documents = createDocuments({ ...shared, documents: allDocuments(runtime.baseUrl), isOverloaded })
  const api = createApi(shared)
  const app = createApp({
    ...shared,
    isStopping: opened.isStopping,
    metrics,
    metricsToken: config.TOLLGATE_METRICS_TOKEN,
    supportToken: config.TOLLGATE_SUPPORT_TOKEN,
    isForThisMachineOnly: config.isForThisMachineOnly,
    messengers: post,
    sandbox: sandbox?.app,
  })
  const odd = refuseOddRequests(shared.observe)
  const first: Answerer = (...exchange) => api(...exchange) || documents(...exchange) || odd(...exchange)
  opened.serve(first, app, shared.observe)
  const onTrouble = (error: unknown) => log.warn({ error: String(error) }, 'a worker has to try again')
  const workers = startWorkers(runtime, { ...watchReading(log), trouble: onTrouble, pause })
  const stopWorkers = started.add(workers.stop)
  const days = config.TOLLGATE_REDACT_DAYS
  if (days) {
    const watch = { ...watchRedaction(metrics, log), trouble: onTrouble, pause }
    started.add(startRedaction(runtime, days, watch).stop)
  }
  const dispatch = openDeliveries(config, records, { clock, pause, metrics, log })
  const stopDispatch = started.add(dispatch.stop)
  bell.pollers = workers.wake
  bell.senders = () => {
    dispatch.wake()
    post.wake()
  }
  // After listening: a start that finds its port taken must not use up the one time that a secret is shown.
  const greeting = records.embedded ? await welcome(db, records.masterKeys, clock()) : undefined
  log.info({ port: opened.port, host: config.HOST }, 'listening')
  return {
    url,
    baseUrl,
    welcome: greeting,
    embedded: records.embedded,
    async stop() {
      opened.announceStop()
      if (options.stopSeconds) {
        log.info({ seconds: options.stopSeconds }, 'stopping')
        await sleep(options.stopSeconds * 1000)
      }
      await Promise.allSettled([stopListening(), stopWorkers()])
      await Promise.allSettled([stopDispatch(), stopPost()]) // after whoever changes payments
      await started.stop() // the rest; and what could not be stopped is told
      log.info('stopped')
    },
  }
}

// Test payments are played by a provider of our own, which the channel finds at our own address. The key is made anew
// at each start: nobody else has to know it.
function openSandbox(
  { TOLLGATE_SANDBOX }: Config,
  { clock, sandboxPace, log }: GatewayOptions & { clock(): Date },
  db: Db,
  url: string,
) {
  if (!TOLLGATE_SANDBOX) return undefined
  const key = randomBytes(24).toString('hex')
  const { app, stop } = createSandbox({ db, clock, key, pace: sandboxPace, log })
  return { app, stop, settings: { SANDBOX_URL: url, SANDBOX_KEY: key } }
}

function nameOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
