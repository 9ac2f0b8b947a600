import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { installationSecrets } from './actions/installation/secrets.ts'
import { makeSupportLink, type SupportLink } from './actions/installation/supportLinks.ts'
import { type Welcome, welcome } from './actions/merchants/welcome.ts'
import type { Config } from './config.ts'
import { operatorKeys } from './core/operator/operatorKeys.ts'
import { listenUrl } from './core/networkSettings.ts'
import { watchAccounts } from './observe/accounts.ts'
import { watchAttempts } from './observe/attempts.ts'
import { gaugeClock, watchClock } from './observe/clock.ts'
import { createMetrics, watchRuntime } from './observe/metrics.ts'
import { watchNodes } from './observe/nodes.ts'
import { gaugeProviders, gaugeWaiting, watchCalls } from './observe/providers.ts'
import { watchReading } from './observe/reading.ts'
import { watchRedaction } from './observe/redaction.ts'
import type { User } from './postgres/user.ts'
import { openProviderAccounts } from './runtime/providerAccounts.ts'
import { createHealthMonitors } from './runtime/providers/healthMonitor.ts'
import { createRuntime } from './runtime/runtime.ts'
import { createWakeUps } from './runtime/wakeUps.ts'
import { checkDatabase, checkMasterKeys, type OpenDatabase, openDatabase } from './start/database.ts'
import { openDeliveries } from './start/deliveries.ts'
import { openMessages } from './start/messages.ts'
import { dropPrivileges } from './start/privileges.ts'
import { accountTools } from './start/providers.ts'
import { openSandbox } from './start/sandbox.ts'
import { rememberStarted, type Started } from './start/started.ts'
import { serveWeb } from './start/web.ts'
import { migrate } from './store/migrate/migrate.ts'
import { migrationNames, recordServed } from './store/migrate/migrationList.ts'
import { watchOverload } from './web/server/overload.ts'
import { listen } from './web/server/server.ts'
import { givenClock, startClock } from './workers/clock.ts'
import { startNode } from './workers/nodes/node.ts'
import { startWorkers } from './workers/payments.ts'
import { startAccountsWatch } from './workers/providerAccounts.ts'
import { startProviderHealth } from './workers/providerHealth.ts'
import { startRedaction } from './workers/redaction.ts'

export type Gateway = {
  url: string
  baseUrl: string
  welcome?: Welcome
  embedded: boolean
  makeSupportLink(): Promise<SupportLink>
  stop(): Promise<void>
}

export type GatewayOptions = {
  log: Logger
  onLost?(why: string): void // the embedded database went away under us
  runAs?: User // root becomes this user, for good, before the first request is answered
  clock?(): Date // instead of the database's
  stopSeconds?: number // between the word that we stop, at /readyz and in every answer, and the stop
  isOverloaded?(): boolean
  migrationFolder?: URL // for tests, of a later release
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

// From the database up to the workers. Whatever is started here is added to what has to be stopped, before the next step
// can fail.
async function open(config: Config, options: GatewayOptions, started: Started): Promise<Gateway> {
  const { log } = options
  const database = await openDatabase(config, 'gateway', options.onLost, options.runAs)
  started.add(database.close)
  const { db, masterKeys } = database
  const migrations = migrationNames(options.migrationFolder)
  await checkDatabase(database, migrations, { durable: !options.mayLosePayments })
  const applied = await migrate(db, { folder: options.migrationFolder, onProgress: text => log.warn(text) })
  if (applied.length > 0) log.info({ applied }, 'migrated')
  await checkMasterKeys(database)

  const time = options.clock ? givenClock(options.clock) : await startClock(database, watchClock(log))
  started.add(time.stop)
  const { now: clock, pause } = time
  const { supportToken, formKey } = await installationSecrets(db, masterKeys, clock())
  const keys = operatorKeys(supportToken, config.TOLLGATE_SUPPORT_TOKEN)

  const opened = await listen(config.HOST, config.PORT)
  const stopListening = started.add(opened.stop)
  const url = listenUrl(config.HOST, opened.port)
  const baseUrl = config.TOLLGATE_BASE_URL ?? url

  const sandbox = openSandbox(config, url, { db, clock, formKey, baseUrl, pace: options.sandboxPace, log })
  if (sandbox) started.add(sandbox.stop)

  const metrics = createMetrics()
  const wakeUps = createWakeUps()
  const node = startNode({ db, clock, onWakeUp: wakeUps.receive, watch: watchNodes(log) })
  started.add(node.stop)
  wakeUps.onOurs(node.sendWakeUp)
  const monitors = createHealthMonitors({ nodes: node.count, watch: watchCalls(metrics) })
  gaugeProviders(metrics, monitors)
  const providerAccounts = await openProviderAccounts({
    env: { ...config.providerSettings, ...sandbox?.settings },
    tools: accountTools(config, { db, clock, masterKeys }),
    stored: database,
    preferred: config.TOLLGATE_PROVIDERS,
    monitors,
    onFault: watchAccounts(log),
  })
  const watch = watchAttempts(metrics, log)
  const runtime = createRuntime({
    db,
    migrations,
    masterKeys,
    batchRows: config.TOLLGATE_BATCH_ROWS,
    poolSize: config.TOLLGATE_POOL_SIZE,
    providerAccounts,
    formKey,
    baseUrl: () => baseUrl,
    clock,
    observeBatch: (kind, rows) => metrics.batchRows.observe({ kind }, rows),
    watch(news) {
      watch(news)
      monitors.ended(news)
    },
    wake: wakeUps.wake,
  })
  watchRuntime(metrics, runtime)
  gaugeClock(metrics, time)

  const messages = await openMessages(config, { db, clock, pause, baseUrl: runtime.baseUrl, metrics, log })
  const stopMessages = started.add(messages.stop)
  wakeUps.on('senders', messages.wake, 'ours')

  if (options.runAs) await becomeUser(options.runAs, database, log)

  const overload = watchOverload()
  started.add(overload.stop)
  const isOverloaded = options.isOverloaded ?? overload.isOverloaded
  serveWeb(opened, config, {
    runtime,
    metrics,
    log,
    isOverloaded,
    operatorKeys: keys,
    messengers: messages,
    sandbox: sandbox?.app,
  })

  const trouble = (error: unknown) => log.warn({ error: String(error) }, 'a worker has to try again')
  const workers = startWorkers(runtime, { ...watchReading(log), trouble, pause })
  const stopWorkers = started.add(workers.stop)
  gaugeWaiting(metrics, workers.waiting)
  started.add(startAccountsWatch(providerAccounts, trouble).stop)
  wakeUps.on('pollers', workers.wake)
  started.add(startProviderHealth(runtime, monitors, trouble).stop)

  const days = config.TOLLGATE_REDACT_DAYS
  if (days)
    started.add(startRedaction(runtime, days, { ...watchRedaction(metrics, log), trouble, pause }).stop)

  const left = () => wakeUps.wake('senders')
  const deliveries = openDeliveries(config, database, { clock, pause, leases: node, left, metrics, log })
  const stopDeliveries = started.add(deliveries.stop)
  wakeUps.on('senders', deliveries.wake)

  // After listening: a start that finds its port taken must not use up the one time that a secret is shown.
  const greeting = database.embedded ? await welcome(db, masterKeys, clock()) : undefined
  await recordServed(db, migrations) // last: nodes of an earlier release stop being ready
  log.info({ port: opened.port, host: config.HOST }, 'listening')
  return {
    url,
    baseUrl,
    welcome: greeting,
    embedded: database.embedded,
    makeSupportLink: () => makeSupportLink(db, keys, baseUrl, clock()),
    async stop() {
      opened.announceStop()
      if (options.stopSeconds) {
        log.info({ seconds: options.stopSeconds }, 'stopping')
        await sleep(options.stopSeconds * 1000)
      }
      await Promise.allSettled([stopListening(), stopWorkers()])
      await Promise.allSettled([stopDeliveries(), stopMessages()]) // after whoever changes payments
      await started.stop() // the rest; and what could not be stopped is told
      log.info('stopped')
    },
  }
}

// Nothing of ours is loaded or read from a file after this, except for the master key after a rotation.
async function becomeUser(user: User, database: OpenDatabase, log: Logger) {
  database.giveTo(user)
  dropPrivileges(user)
  await database.checkReachable()
  log.info(user, "root's rights are dropped")
}
