import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { hasRealUsers } from './actions/installation/firstVisit.ts'
import { installationSecrets } from './actions/installation/secrets.ts'
import { makeSupportLink, type SupportLink } from './actions/installation/supportLinks.ts'
import { type Welcome, welcome } from './actions/merchants/onboard.ts'
import { createDecisions } from './actions/payments/decisions.ts'
import { taskCounts } from './actions/payments/taskCounts.ts'
import { version } from './cli/version.ts'
import type { Config } from './config.ts'
import { nodeLabel } from './core/operator/nodeLabel.ts'
import { operatorKeys } from './core/operator/operatorKeys.ts'
import { watchAttempts } from './observe/attempts.ts'
import { gaugeClock, watchClock } from './observe/clock.ts'
import { createMetrics, gaugeTasks, type Metrics, watchRuntime } from './observe/metrics.ts'
import { paymentRequestReader } from './observe/paymentRequests.ts'
import { gaugeProviders, gaugeWaiting, watchAccounts, watchCalls } from './observe/providers.ts'
import { watchRequestLog } from './observe/requestLog.ts'
import { watchLedger, watchNodes, watchReading, watchRedaction } from './observe/workers.ts'
import type { User } from './postgres/user.ts'
import type { LocalWorkers } from './runtime/localWorkers.ts'
import { createMinuteTally, type MinuteTally } from './runtime/minuteTally.ts'
import { loadProviders, openProviderAccounts } from './runtime/providerAccounts.ts'
import { createHealthMonitors } from './runtime/providers/healthMonitor.ts'
import { createRuntime } from './runtime/runtime.ts'
import { createWakeUps } from './runtime/wakeUps.ts'
import { checkDatabase, checkMasterKeys, type OpenDatabase, openDatabase } from './start/database.ts'
import { openDeliveries } from './start/deliveries.ts'
import { notificationRules } from './start/egress.ts'
import { openMessages } from './start/messages.ts'
import { dropPrivileges } from './start/privileges.ts'
import { accountTools, uncachedTools } from './start/providers.ts'
import { openDemoShop } from './start/shop.ts'
import { rememberStarted, type Started } from './start/started.ts'
import { openPorts } from './start/ports.ts'
import { openSandbox, serveWeb } from './start/web.ts'
import { migrate } from './store/migrate/migrate.ts'
import { migrationNames, recordServed } from './store/migrate/migrationList.ts'
import { watchOverload } from './web/server/overload.ts'
import { injectedClock, startClock } from './workers/clock.ts'
import { startLedger } from './workers/ledger.ts'
import { startNode } from './workers/node.ts'
import { startNodeMinutes } from './workers/nodeMinutes.ts'
import { startWorkers } from './workers/payments.ts'
import { startAccountsWatch } from './workers/providerAccounts.ts'
import { startProviderHealth } from './workers/providerHealth.ts'
import { startRedaction } from './workers/redaction.ts'
import { startRequestLog } from './workers/requestLog.ts'
import { startUserMails } from './workers/userMails.ts'

export type Gateway = {
  url: string
  baseUrl: string
  dashboardUrl: string
  welcome?: Welcome
  embedded: boolean
  hasDemo: boolean // the link also shows the dashboard
  hasUsers: boolean // at the start
  makeSupportLink(): Promise<SupportLink>
  stop(): Promise<void>
}

export type GatewayOptions = {
  log: Logger
  onLost?(why: string): void // the embedded database stopped
  runAs?: User // root becomes this user before the first request is answered
  clock?(): Date // instead of the database's
  stopSeconds?: number // between the announcement of the stop, at /readyz and in every response, and the stop
  isOverloaded?(): boolean
  migrationFolder?: URL // for tests, of a later release
  hasDemo?: boolean // for tests, on a database that is not the private one
  mayLosePayments?: boolean // for tests, on a database that does not wait for its disk
  sandboxPace?: number // multiplies the simulated provider's waiting times
}

export async function startGateway(config: Config, options: GatewayOptions): Promise<Gateway> {
  const started = rememberStarted()
  try {
    return await open({ config, options, log: options.log, started })
  } catch (error) {
    await started.stop().catch(() => {}) // the first error is the cause
    throw error
  }
}

type Start = { config: Config; options: GatewayOptions; log: Logger; started: Started }

// What a gateway is made of, from the database up to the workers. Each step adds what it starts to `started` before the
// next step can fail.
async function open(start: Start): Promise<Gateway> {
  const { config, options, log, started } = start

  // The database, its clock, and the secrets that all nodes share.
  const { database, migrations } = await openMigrated(start)
  const { db, masterKeys } = database
  const time = options.clock ? injectedClock(options.clock) : await startClock(database, watchClock(log))
  started.add(time.stop)
  const { now: clock } = time
  const { supportToken, formKey } = await installationSecrets(db, masterKeys, clock())
  const keys = operatorKeys(supportToken, config.TOLLGATE_SUPPORT_TOKEN)

  // The ports. Requests wait until serveWeb is called.
  const ports = await openPorts(config)
  const stopListening = started.add(ports.stop)
  const { url, baseUrl, dashboardUrl } = ports

  // The other nodes, the providers, and the runtime that every action gets.
  const metrics = createMetrics()
  gaugeClock(metrics, time)
  const tally = createMinuteTally(clock)
  const base = { ...start, database, time, metrics, tally, formKey, url, baseUrl, dashboardUrl }
  const nodes = joinNodes(base, migrations)
  const providers = await openProviders(base, nodes)
  const localWorkers: LocalWorkers = {} // the deliveries, the messages and the poller register here as they start
  const runtime = buildRuntime(base, nodes, providers, localWorkers, migrations)
  const messages = await startMessaging(base, nodes, localWorkers)
  const shopDeps = { db, masterKeys, clock, url, baseUrl, isSent: messages.configured, log }
  const shop = openDemoShop(config, shopDeps)

  // Answers requests, without the privileges of root.
  if (options.runAs) await becomeUser(options.runAs, database, log)
  const hasDemo = config.isForThisMachineOnly && (options.hasDemo ?? database.embedded)
  const overload = watchOverload()
  started.add(overload.stop)
  const requestLog = startRequestLog({ db, clock, pause: time.pause, ...watchRequestLog(metrics, log) })
  started.add(requestLog.stop)
  serveWeb(ports, config, {
    runtime,
    masterKeys,
    providers: providers.ofGateway,
    metrics,
    log,
    isOverloaded: options.isOverloaded ?? overload.isOverloaded,
    recordRefusal: requestLog.record,
    operatorKeys: keys,
    messengers: messages,
    sandbox: providers.sandbox?.app,
    shop,
    hasDemo,
  })
  const stopWorkers = startPaymentWorkers(base, nodes, providers, runtime)
  startLedgerWorker(base, runtime, messages)
  mailUsers(base, runtime, messages)
  const stopDeliveries = startDelivering(base, nodes, localWorkers)

  // After listening: a start that fails because its port is taken must not use up the one time that a secret is shown.
  const greeting = database.embedded ? await welcome(db, masterKeys, clock()) : undefined
  await recordServed(db, migrations) // last: nodes of an earlier release stop being ready
  log.info({ port: ports.main.port, host: config.HOST, dashboard_port: ports.dashboard?.port }, 'listening')
  return {
    url,
    baseUrl,
    dashboardUrl,
    welcome: greeting,
    embedded: database.embedded,
    hasDemo,
    hasUsers: await hasRealUsers(db),
    makeSupportLink: () => makeSupportLink(db, keys, dashboardUrl, clock()),
    async stop() {
      ports.announceStop()
      await servePastStop(options, log)
      await Promise.allSettled([stopListening(), stopWorkers()])
      await Promise.allSettled([stopDeliveries(), messages.stop()]) // after everything that changes payments
      await started.stop() // the rest; errors of the stops before are thrown here
      log.info('stopped')
    },
  }
}

// Load balancers need a while to notice the announced stop.
async function servePastStop({ stopSeconds }: GatewayOptions, log: Logger) {
  if (!stopSeconds) return
  log.info({ seconds: stopSeconds }, 'stopping')
  await sleep(stopSeconds * 1000)
}

async function openMigrated({ config, options, log, started }: Start) {
  const database = await openDatabase(config, 'gateway', options.onLost, options.runAs)
  started.add(database.close)
  const migrations = migrationNames(options.migrationFolder)
  await checkDatabase(database, migrations, { durable: !options.mayLosePayments })
  const applied = await migrate(database.db, {
    folder: options.migrationFolder,
    onProgress: text => log.warn(text),
  })
  if (applied.length > 0) log.info({ applied }, 'migrated')
  await checkMasterKeys(database)
  return { database, migrations }
}

type Base = Start & {
  database: OpenDatabase
  time: ReturnType<typeof injectedClock>
  metrics: Metrics
  tally: MinuteTally
  formKey: Buffer
  url: string
  baseUrl: string
  dashboardUrl: string
}

// The other nodes, and the wake-ups that nodes send to each other.
function joinNodes({ database: { db }, time, started, log }: Base, migrations: readonly string[]) {
  const wakeUps = createWakeUps()
  const node = startNode({
    db,
    clock: time.now,
    onWakeUp: wakeUps.receive,
    watch: watchNodes(log),
    label: () =>
      nodeLabel({
        name: hostname(),
        version,
        schema: Number.parseInt(migrations.at(-1) ?? '0', 10),
        clockOffsetMs: time.machineAheadMs(),
        isPaused: time.pause() !== undefined,
      }),
  })
  started.add(node.stop)
  wakeUps.forward(node.sendWakeUp)
  return { node, wakeUps }
}
type Nodes = ReturnType<typeof joinNodes>

// The provider accounts with their health monitors, and the simulated provider if it is enabled.
async function openProviders(base: Base, { node }: Nodes) {
  const { config, options, database, time, metrics, formKey, url, baseUrl, started, log } = base
  const { db, masterKeys } = database
  const { now: clock } = time
  const sandbox = openSandbox(config, url, {
    db,
    clock,
    formKey,
    baseUrl,
    timeScale: options.sandboxPace,
    log,
  })
  if (sandbox) started.add(sandbox.stop)
  const monitors = createHealthMonitors({ nodes: node.count, watch: watchCalls(metrics), clock })
  gaugeProviders(metrics, monitors)
  const accounts = await openProviderAccounts({
    env: { ...config.providerSettings, ...sandbox?.settings },
    tools: accountTools(config, { db, clock, masterKeys }),
    stored: database,
    preferred: config.TOLLGATE_PROVIDERS,
    monitors,
    onFault: watchAccounts(log),
  })
  const setup = { providers: await loadProviders(), tools: uncachedTools(config, { db, clock }), masterKeys }
  return { accounts, monitors, sandbox, ofGateway: { accounts: accounts.accounts, setup } }
}
type Providers = Awaited<ReturnType<typeof openProviders>>

// What every action gets. A click on "Pay" takes this path: the checkout route calls `pay` with the runtime; `decisions`
// stores the attempt; `providerAccounts` sends its order; `decisions` applies the reply, and `localWorkers.dispatch` sends
// the notification of its commit.
function buildRuntime(
  { config, database, time, metrics, tally, formKey, baseUrl, dashboardUrl, log }: Base,
  { wakeUps }: Nodes,
  { accounts, monitors }: Providers,
  localWorkers: LocalWorkers,
  migrations: readonly string[],
) {
  const watch = watchAttempts(metrics, log)
  const runtime = createRuntime({
    db: database.db,
    migrations,
    masterKeys: database.masterKeys,
    batchRows: config.TOLLGATE_BATCH_ROWS,
    poolSize: config.TOLLGATE_POOL_SIZE,
    decisions: createDecisions(database.db, localWorkers),
    localWorkers,
    providerAccounts: accounts,
    formKey,
    baseUrl: () => baseUrl,
    dashboardUrl: () => dashboardUrl,
    addressRules: notificationRules(config, database.embedded),
    clock: time.now,
    timeZone: config.TOLLGATE_TIME_ZONE,
    observeBatch: (kind, rows) => metrics.batchRows.observe({ kind }, rows),
    observeStored: tally.stored,
    watch(update) {
      watch(update)
      monitors.ended(update)
      tally.ended(update)
    },
    wake: wakeUps.wake,
  })
  watchRuntime(metrics, runtime)
  gaugeTasks(metrics, () => taskCounts(database.db.withQuota('metrics'), time.now()))
  return runtime
}

async function startMessaging(
  { config, database: { db }, time, baseUrl, metrics, log, started }: Base,
  { wakeUps }: Nodes,
  localWorkers: LocalWorkers,
) {
  const { now: clock, pause } = time
  const deps = { db, localWorkers, clock, pause, baseUrl: () => baseUrl, metrics, log }
  const messages = await openMessages(config, deps)
  const stop = started.add(messages.stop)
  wakeUps.on('senders', messages.wake, 'thisNode')
  return { ...messages, stop }
}

// After this no module is loaded and no file is read, except for the master key after a rotation.
async function becomeUser(user: User, database: OpenDatabase, log: Logger) {
  database.giveTo(user)
  dropPrivileges(user)
  await database.checkReachable()
  log.info(user, 'root privileges are dropped')
}

function startPaymentWorkers(
  { config, database, time: { now: clock, pause }, metrics, tally, log, started }: Base,
  { wakeUps }: Nodes,
  { accounts, monitors }: Providers,
  runtime: ReturnType<typeof buildRuntime>,
) {
  const trouble = (error: unknown) => log.warn({ error: String(error) }, 'error in a worker; it will retry')
  const workers = startWorkers(runtime, { ...watchReading(log), trouble, pause })
  const stopWorkers = started.add(workers.stop)
  gaugeWaiting(metrics, workers.waiting)
  started.add(startAccountsWatch(accounts, trouble).stop)
  wakeUps.on('pollers', workers.wake)
  started.add(startProviderHealth(runtime, monitors, trouble).stop)
  const readRequests = paymentRequestReader(metrics)
  started.add(startNodeMinutes({ db: database.db, clock, tally, readRequests, trouble }).stop)
  const days = config.TOLLGATE_REDACT_DAYS
  if (days)
    started.add(startRedaction(runtime, days, { ...watchRedaction(metrics, log), trouble, pause }).stop)
  return stopWorkers
}

function startLedgerWorker(
  { config, time: { pause }, metrics, log, started }: Base,
  runtime: ReturnType<typeof buildRuntime>,
  messages: Awaited<ReturnType<typeof startMessaging>>,
) {
  const { TOLLGATE_TIME_ZONE: zone, TOLLGATE_LEDGER_MAIL: to } = config
  const messenger = messages.find('email')?.messenger
  if (to && !messenger) log.warn('The heads of the ledger are not mailed: no messenger for email is set up.')
  const mail = to && messenger ? { to, messenger } : undefined
  const trouble = (error: unknown) => log.warn({ error: String(error) }, 'error in the ledger; it will retry')
  started.add(startLedger(runtime, { ...watchLedger(metrics, log), zone, mail, trouble, pause }).stop)
}

function mailUsers(
  { time: { pause }, log, started }: Base,
  runtime: ReturnType<typeof buildRuntime>,
  messages: Awaited<ReturnType<typeof startMessaging>>,
) {
  const trouble = (error: unknown) =>
    log.warn({ error: String(error) }, 'error in the mails to users; it will retry')
  const messenger = messages.find('email')?.messenger
  started.add(startUserMails(runtime, { messenger, trouble, pause }).stop)
}

function startDelivering(
  { config, database, time, metrics, log, started }: Base,
  { node, wakeUps }: Nodes,
  localWorkers: LocalWorkers,
) {
  const { now: clock, pause } = time
  const undispatched = () => wakeUps.wake('senders')
  const deps = { localWorkers, clock, pause, leases: node, undispatched, metrics, log }
  const deliveries = openDeliveries(config, database, deps)
  const stop = started.add(deliveries.stop)
  wakeUps.on('senders', deliveries.wake)
  return stop
}
