import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { openChannels } from './actions/channels.ts'
import { createGate } from './actions/gate.ts'
import { type Welcome, welcome } from './actions/welcome.ts'
import type { Config } from './config.ts'
import { type Dispatch, openDispatch } from './dispatch.ts'
import { openPost, type Post } from './post.ts'
import { checkMasterKeys, openRecords } from './records.ts'
import { createSandbox } from './sandbox/sandbox.ts'
import type { Db } from './store/db.ts'
import { migrate } from './store/migrate.ts'
import { createApi } from './web/api/api.ts'
import { createApp } from './web/app.ts'
import { createMetrics, watchGate } from './web/metrics.ts'
import { createObserver } from './web/observe.ts'
import { type Listening, listen } from './web/server.ts'
import { watchAttempts } from './web/watchAttempts.ts'
import { watchReading } from './web/watchReading.ts'
import { startWorkers, type Workers } from './workers/workers.ts'

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
  sandboxPace?: number // the simulated provider's waiting times are multiplied by it
}

export async function startGateway(config: Config, options: GatewayOptions): Promise<Gateway> {
  const { log, onLost, clock = () => new Date() } = options
  const records = await openRecords(config, 'gateway', onLost)
  const { db } = records
  let listening: Listening | undefined
  let workers: Workers | undefined
  let dispatch: Dispatch | undefined
  let post: Post | undefined
  try {
    const applied = await migrate(db)
    if (applied.length > 0) log.info({ applied }, 'migrated')
    await checkMasterKeys(records)
    const opened = (listening = await listen(config.HOST, config.PORT))
    const url = `http://${nameOf(config.HOST)}:${opened.port}`
    const baseUrl = config.TOLLGATE_BASE_URL ?? url
    const sandbox = openSandbox(config, options, db, url)
    const metrics = createMetrics()
    const watching = watchAttempts(metrics, log)
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
      wake(who) {
        if (who === 'askers') return workers?.wake()
        dispatch?.wake()
        post?.wake()
      },
    })
    watchGate(metrics, gate)
    post = await openPost(config, { db, clock, baseUrl: gate.baseUrl, metrics, log })
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
    log.info({ port: opened.port, host: config.HOST }, 'listening')
    workers = startWorkers(
      gate,
      error => log.warn({ error: String(error) }, 'a worker has to try again'),
      watchReading(log),
    )
    dispatch = openDispatch(config, records, { clock, metrics, log })
    // After listening: a start that finds its port taken must not use up the one time that a secret is shown.
    const greeting = records.embedded ? await welcome(db, records.masterKeys, clock()) : undefined
    const stop = async () => {
      await Promise.all([opened.stop(), workers?.stop()])
      await Promise.all([dispatch?.stop(), post?.stop()]) // after whoever changes payments
      sandbox?.stop()
      await records.close()
      log.info('stopped')
    }
    return { url, baseUrl, welcome: greeting, embedded: records.embedded, stop }
  } catch (error) {
    await listening?.stop()
    await post?.stop()
    await records.close()
    throw error
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
