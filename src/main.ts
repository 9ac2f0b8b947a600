import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { openChannels } from './actions/channels.ts'
import { createGate } from './actions/gate.ts'
import { type Welcome, welcome } from './actions/welcome.ts'
import type { Config } from './config.ts'
import { openDispatch } from './dispatch.ts'
import { openPost } from './post.ts'
import { checkDatabase, checkMasterKeys, openRecords } from './records.ts'
import { createSandbox } from './sandbox/sandbox.ts'
import { rememberStarted, type Started } from './started.ts'
import type { Db } from './store/db.ts'
import { migrate } from './store/migrate.ts'
import { createApi } from './web/api/api.ts'
import { createApp } from './web/app.ts'
import { createMetrics, watchGate } from './web/metrics.ts'
import { createObserver } from './web/observe.ts'
import { listen } from './web/server.ts'
import { watchAttempts } from './web/watchAttempts.ts'
import { startWorkers } from './workers/workers.ts'

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
  clock?(): Date
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
  const { log, onLost, clock = () => new Date() } = options
  const records = await openRecords(config, 'gateway', onLost)
  started.add(records.close)
  const { db } = records
  await checkDatabase(records, { durable: !options.mayLosePayments })
  const applied = await migrate(db, { tell: words => log.warn(words) })
  if (applied.length > 0) log.info({ applied }, 'migrated')
  await checkMasterKeys(records)
  const opened = await listen(config.HOST, config.PORT)
  const stopListening = started.add(opened.stop)
  const url = `http://${nameOf(config.HOST)}:${opened.port}`
  const baseUrl = config.TOLLGATE_BASE_URL ?? url
  const sandbox = openSandbox(config, options, db, url)
  if (sandbox) started.add(sandbox.stop)
  const metrics = createMetrics()
  const watching = watchAttempts(metrics, log)
  const bell = { askers: () => {}, tellers: () => {} } // nobody hears it before the workers are here
  const gate = createGate({
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
      if (change.events.some(({ kind }) => kind === 'status_changed')) gate.wake('tellers')
    },
    wake: who => bell[who](),
  })
  watchGate(metrics, gate)
  const post = await openPost(config, { db, clock, baseUrl: gate.baseUrl, metrics, log })
  const stopPost = started.add(post.stop)
  const trustedProxies = config.TOLLGATE_TRUST_PROXY
  const shared = { gate, baseUrl: gate.baseUrl, log, observe: createObserver(metrics, log), trustedProxies }
  const app = createApp({
    ...shared,
    metrics,
    metricsToken: config.TOLLGATE_METRICS_TOKEN,
    supportToken: config.TOLLGATE_SUPPORT_TOKEN,
    messengers: post,
    sandbox: sandbox?.app,
  })
  opened.serve(createApi(shared), app)
  const workers = startWorkers(gate, error => log.warn({ error: String(error) }, 'a worker has to try again'))
  const stopWorkers = started.add(workers.stop)
  const dispatch = openDispatch(config, records, { clock, metrics, log })
  const stopDispatch = started.add(dispatch.stop)
  bell.askers = workers.wake
  bell.tellers = () => {
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
  { clock, sandboxPace, log }: GatewayOptions,
  db: Db,
  url: string,
) {
  if (!TOLLGATE_SANDBOX) return undefined
  const key = randomBytes(24).toString('hex')
  const { app, stop } = createSandbox({ db, clock: clock ?? (() => new Date()), key, pace: sandboxPace, log })
  return { app, stop, settings: { SANDBOX_URL: url, SANDBOX_KEY: key } }
}

function nameOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
