import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { backlogs } from './actions/installation/backlogs.ts'
import { hasRealUsers } from './actions/installation/firstVisit.ts'
import { listNodes } from './actions/installation/nodes.ts'
import { installationSecrets } from './actions/installation/secrets.ts'
import { makeSupportLink, type SupportLink } from './actions/installation/supportLinks.ts'
import { type Welcome, welcome } from './actions/merchants/onboard.ts'
import { createDecisions } from './actions/payments/decisions.ts'
import { createSecretsCheck } from './actions/installation/unreadableSecrets.ts'
import { lastBackupAt } from './actions/backups/lastBackupAt.ts'
import { taskCounts } from './actions/payments/taskCounts.ts'
import { version } from './cli/version.ts'
import type { Config } from './config.ts'
import { dueKinds } from './core/dueKinds.ts'
import type { Pause } from './core/databaseClock.ts'
import { notOriginalText } from './core/installation/installationTexts.ts'
import type { NodeFacts } from './core/operator/nodeList.ts'
import { operatorKeys } from './core/operator/operatorKeys.ts'
import { watchAttempts } from './observe/attempts.ts'
import { gaugeClock, watchClock } from './observe/clock.ts'
import { watchDatabase } from './observe/database.ts'
import { gaugeInstallation, logInstallation } from './observe/installation.ts'
import {
  createMetrics,
  gaugeBackups,
  gaugeSecrets,
  gaugeTasks,
  type Metrics,
  watchRuntime,
} from './observe/metrics.ts'
import { gaugeNodes } from './observe/nodes.ts'
import { gaugeBacklogs, watchPayments } from './observe/payments.ts'
import { paymentRequestReader } from './observe/paymentRequests.ts'
import { gaugeProviders, gaugeWaiting, watchAccounts, watchCalls } from './observe/providers.ts'
import { watchRequestLog } from './observe/requestLog.ts'
import { createOutbound } from './net/outbound.ts'
import { watchLedger, watchNodes, watchReading, watchRedaction } from './observe/workers.ts'
import type { User } from './postgres/user.ts'
import { createDueWork } from './runtime/dueWork.ts'
import { createHeartbeats, type Heartbeats } from './runtime/heartbeats.ts'
import type { LocalWorkers } from './runtime/localWorkers.ts'
import { createMinuteTally, type MinuteTally } from './runtime/minuteTally.ts'
import { loadProviders, openProviderAccounts } from './runtime/providerAccounts.ts'
import { createHealthMonitors } from './runtime/providers/healthMonitor.ts'
import { anyPause, newPause } from './runtime/pause.ts'
import { createRuntime } from './runtime/runtime.ts'
import type { UsedCredentials } from './runtime/usedCredentials.ts'
import { createWakeUps } from './runtime/wakeUps.ts'
import {
  checkDatabase,
  checkMasterKeys,
  checkNotMoved,
  type OpenDatabase,
  openDatabase,
} from './start/database.ts'
import { openDeliveries } from './start/deliveries.ts'
import { merchantEgress, notificationRules } from './start/egress.ts'
import { openMessages } from './start/messages.ts'
import { dropPrivileges } from './start/privileges.ts'
import { accountTools, uncachedTools } from './start/providers.ts'
import { openDemoShop } from './start/shop.ts'
import { rememberStarted, type Started } from './start/started.ts'
import { openPorts } from './start/ports.ts'
import type { ProcessGroup } from './start/processGroup.ts'
import { openSandbox, serveWeb } from './start/web.ts'
import { migrate } from './store/migrate/migrate.ts'
import { migrationNames, recordServed } from './store/migrate/migrationList.ts'
import { watchOverload } from './web/server/overload.ts'
import { injectedClock, startClock } from './workers/clock.ts'
import { startDueChecks } from './workers/dueChecks.ts'
import { type InstallationWatch, watchInstallation } from './workers/installationWatch.ts'
import { startLedger } from './workers/ledger.ts'
import { startLastUses } from './workers/lastUses.ts'
import { startNode } from './workers/node.ts'
import { startHeartbeat } from './workers/nodeHeartbeat.ts'
import { startNodeMinutes } from './workers/nodeMinutes.ts'
import { startWorkers } from './workers/payments.ts'
import { startAccountsWatch } from './workers/providerAccounts.ts'
import { startProviderHealth } from './workers/providerHealth.ts'
import { startRedaction } from './workers/redaction.ts'
import { startRequestLog } from './workers/requestLog.ts'
import { startUserMails } from './workers/userMails.ts'

const mostTestSockets = 8 // idle connections of test notifications, which never use those of the deliveries

export type Gateway = {
  url: string
  baseUrl: string
  dashboardUrl: string
  welcome?: Welcome
  embedded: boolean
  hasDemo: boolean // the link also shows the dashboard
  hasUsers: boolean // at the start
  notOriginal?: string // at the start: why the database is a copy, and what to do
  makeSupportLink(): Promise<SupportLink>
  stop(): Promise<void>
}

export type GatewayOptions = {
  log: Logger
  onLost?(why: string): void // the embedded database stopped
  runAs?: User // root becomes this user before the first request is answered
  group?: ProcessGroup // the processes that share the port with this one (TOLLGATE_PROCESSES)
  clock?(): Date // instead of the database's
  stopSeconds?: number // between the announcement of the stop, at /readyz and in every response, and the stop
  isOverloaded?(): boolean
  migrationFolder?: URL // for tests, of a later release
  hasDemo?: boolean // for tests, on a database that is not the private one
  mayLosePayments?: boolean // for tests, on a database that does not wait for its disk
  sandboxPace?: number // multiplies the simulated provider's waiting times
  erasingMs?: number // for tests: how long one request of the dashboard erases a person
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
  const heartbeats = createHeartbeats()
  const time = options.clock
    ? injectedClock(options.clock)
    : await startClock(database, watchClock(log), heartbeats)
  started.add(time.stop)
  const { now: clock } = time
  const installation = await openInstallation(start, database, clock, heartbeats)
  const halt = anyPause(time.pause, installation.pause)
  const pause = anyPause(halt, pauseOfRole(config, log))
  const { supportToken, formKey } = await installationSecrets(db, masterKeys, clock())
  const keys = operatorKeys(supportToken, config.TOLLGATE_SUPPORT_TOKEN)

  // The ports. Requests wait until serveWeb is called.
  const ports = await openPorts(config)
  const stopListening = started.add(ports.stop)
  const { url, baseUrl, dashboardUrl } = ports

  // The other nodes, the providers, and the runtime that every action gets.
  const metrics = createMetrics(options.group)
  gaugeClock(metrics, time)
  const tally = createMinuteTally(clock)
  gaugeInstallation(metrics, installation)
  const base = {
    ...start,
    database,
    time,
    installation,
    halt,
    pause,
    metrics,
    heartbeats,
    tally,
    formKey,
    url,
    baseUrl,
    dashboardUrl,
  }
  const nodes = joinNodes(base, migrations)
  const providers = await openProviders(base, nodes)
  const localWorkers: LocalWorkers = {} // the deliveries, the messages and the poller register here as they start
  const runtime = buildRuntime(base, nodes, providers, localWorkers, migrations)
  const messages = await startMessaging(base, nodes, localWorkers)
  const shopDeps = { db, masterKeys, clock, url, baseUrl, isSent: messages.configured, log }
  const isWorker = config.TOLLGATE_ROLE === 'worker'
  const shop = isWorker ? undefined : openDemoShop(config, shopDeps)

  // Answers requests, without the privileges of root.
  if (options.runAs) await becomeUser(options.runAs, database, log)
  const hasDemo = !isWorker && config.isForThisMachineOnly && (options.hasDemo ?? database.embedded)
  const overload = watchOverload()
  started.add(overload.stop)
  const endpointTests = createOutbound({ ...merchantEgress(config), maxSockets: mostTestSockets })
  started.add(endpointTests.close)
  const requestLog = startRequestLog({
    db,
    clock,
    pause: time.pause,
    heartbeats,
    ...watchRequestLog(metrics, log),
  })
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
    sendToMerchant: endpointTests.send,
    messengers: messages,
    sandbox: providers.sandbox?.app,
    shop,
    hasDemo,
    erasingMs: options.erasingMs,
  })
  const stopWorkers = startPaymentWorkers(base, nodes, providers, runtime)
  startLedgerWorker(base, runtime, messages)
  mailUsers(base, nodes, runtime, messages)
  const deliveries = startDelivering(base, nodes, runtime, localWorkers)
  recordLastUses(base, runtime, deliveries.usedSecrets)

  // After listening: a start that fails because its port is taken must not use up the one time that a secret is shown.
  const greeting = database.embedded ? await welcome(db, masterKeys, clock()) : undefined
  // Last: nodes of an earlier release stop being ready. So not while this one is not ready, because of a copy.
  const served = () => recordServed(db, migrations)
  if (installation.state().is === 'original') await served()
  else
    installation.onOriginal(
      () => void served().catch(error => log.warn({ error: String(error) }, 'not recorded')),
    )
  log.info({ port: ports.main.port, host: config.HOST, dashboard_port: ports.dashboard?.port }, 'listening')
  return {
    url,
    baseUrl,
    dashboardUrl,
    welcome: greeting,
    embedded: database.embedded,
    hasDemo,
    hasUsers: await hasRealUsers(db),
    notOriginal: notOriginalText(installation.state()),
    makeSupportLink: () => makeSupportLink(db, keys, dashboardUrl, clock()),
    async stop() {
      ports.announceStop()
      await servePastStop(options, log)
      await Promise.allSettled([stopListening(), stopWorkers()])
      await Promise.allSettled([deliveries.stop(), messages.stop()]) // after everything that changes payments
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
  const role = options.group ? 'process' : 'gateway'
  const database = await openDatabase(config, role, options.onLost, options.runAs)
  started.add(database.close)
  const migrations = migrationNames(options.migrationFolder)
  await checkDatabase(database, migrations, { durable: !options.mayLosePayments })
  await checkNotMoved(database)
  const applied = await migrate(database.db, {
    folder: options.migrationFolder,
    onProgress: text => log.warn(text),
  })
  if (applied.length > 0) log.info({ applied }, 'migrated')
  await checkMasterKeys(database)
  return { database, migrations }
}

async function openInstallation(
  { log, started }: Start,
  { db, address, embedded }: OpenDatabase,
  clock: () => Date,
  heartbeats: Heartbeats,
) {
  const installation = await watchInstallation(
    { db, address, embedded, clock },
    logInstallation(log),
    heartbeats,
  )
  started.add(installation.stop)
  return installation
}

// The workers of a web node pause for ever: other nodes do all work that nobody waits for. A commit of this node wakes theirs.
function pauseOfRole({ TOLLGATE_ROLE: role }: Config, log: Logger): Pause {
  if (role === 'worker') log.info('TOLLGATE_ROLE=worker: this node serves health checks and metrics only')
  if (role !== 'web') return () => undefined
  log.info('TOLLGATE_ROLE=web: this node takes payments; others send, poll and expire')
  const { over } = newPause()
  return () => over
}

type Base = Start & {
  database: OpenDatabase
  time: ReturnType<typeof injectedClock>
  installation: InstallationWatch
  halt: Pause // of all that this node does by itself
  pause: Pause // of the workers
  metrics: Metrics
  heartbeats: Heartbeats
  tally: MinuteTally
  formKey: Buffer
  url: string
  baseUrl: string
  dashboardUrl: string
}

// The other nodes, the wake-ups that nodes send to each other, and what this one writes about itself.
function joinNodes(base: Base, migrations: readonly string[]) {
  const { database, time, heartbeats, started, log } = base
  const wakeUps = createWakeUps()
  const node = startNode({
    db: database.db,
    clock: time.now,
    onWakeUp: wakeUps.receive,
    watch: watchNodes(log),
    heartbeats,
  })
  const heartbeat = startHeartbeat({
    db: database.db,
    node,
    heartbeats,
    facts: () => nodeFacts(base, migrations),
    trouble: error =>
      log.warn({ error: String(error) }, 'error in the heartbeat of this node; it will retry'),
  })
  started.add(heartbeat.stop) // after its lock has ended, so that a stopping node is not taken for one without a row
  started.add(node.stop)
  wakeUps.forward(node.sendWakeUp)
  const work = createDueWork({ clock: time.now, receivesWakeUps: node.receivesWakeUps, random: Math.random })
  node.onConnected(() => work.reopen(...dueKinds)) // wake-ups may have been lost before
  for (const worker of ['pollers', 'senders'] as const) wakeUps.on(worker, work.active)
  return { node, wakeUps, work }
}

const nodeFacts = (
  { config, database, time, halt, url }: Base,
  migrations: readonly string[],
): NodeFacts => ({
  name: hostname(),
  listens_at: url,
  version,
  schema: schemaOf(migrations),
  key_ids: database.masterKeys.ids(),
  database_address: database.address,
  clock_offset_ms: time.machineAheadMs(),
  is_paused: config.TOLLGATE_ROLE !== 'web' && halt() !== undefined,
  role: config.TOLLGATE_ROLE,
})
const schemaOf = (migrations: readonly string[]) => Number.parseInt(migrations.at(-1) ?? '0', 10)

type Nodes = ReturnType<typeof joinNodes>

// The provider accounts with their health monitors, and the simulated provider if it is enabled.
async function openProviders(base: Base, { node }: Nodes) {
  const { config, options, database, time, installation, metrics, formKey, url, baseUrl, started, log } = base
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
    whyNotCall: mode =>
      mode === 'live' && installation.state().is !== 'original' ? 'The database is a copy.' : undefined,
    onFault: watchAccounts(log),
  })
  metrics.measureAccounts(() =>
    accounts.accounts().map(({ account, methods: offered }) => ({
      account,
      methods: offered.map(({ payment_method }) => payment_method),
    })),
  )
  const methods = accounts.accounts().flatMap(({ opened }) => opened?.methods ?? [])
  const setup = { providers: await loadProviders(), tools: uncachedTools(config, { db, clock }), masterKeys }
  return {
    accounts,
    monitors,
    methods: [...new Set(methods.map(({ payment_method }) => payment_method))],
    sandbox,
    ofGateway: { accounts: accounts.accounts, setup },
  }
}
type Providers = Awaited<ReturnType<typeof openProviders>>

// What every action gets. A click on "Pay" takes this path: the checkout route calls `pay` with the runtime; `decisions`
// stores the attempt; `providerAccounts` sends its order; `decisions` applies the reply, and `localWorkers.dispatch` sends
// the notification of its commit.
function buildRuntime(
  {
    config,
    database,
    time,
    installation,
    metrics,
    heartbeats,
    tally,
    formKey,
    baseUrl,
    dashboardUrl,
    log,
  }: Base,
  { wakeUps, work }: Nodes,
  { accounts, monitors, methods }: Providers,
  localWorkers: LocalWorkers,
  migrations: readonly string[],
) {
  const watch = watchAttempts(metrics, log)
  const payments = watchPayments(metrics, methods)
  localWorkers.observeStatuses = payments.changed
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
    installation: installation.state,
    observeBatch: (kind, rows) => metrics.batchRows.observe({ kind }, rows),
    observeStored(requested, stored) {
      tally.stored(requested, stored)
      payments.stored(requested, stored)
    },
    watch(update) {
      work.active()
      watch(update)
      monitors.ended(update)
      tally.ended(update)
    },
    wake: wakeUps.wake,
  })
  watchRuntime(metrics, runtime)
  watchDatabase(metrics, database.db)
  const scraped = database.db.withQuota('metrics')
  gaugeBacklogs(metrics, () => backlogs(scraped, time.now(), config.TOLLGATE_REDACT_DAYS))
  const schema = schemaOf(migrations)
  gaugeNodes(metrics, {
    version,
    schema,
    heartbeats,
    nodes: () => listNodes(scraped),
  })
  gaugeBackups(metrics, () => lastBackupAt(scraped))
  gaugeTasks(metrics, () => taskCounts(database.db.withQuota('metrics'), time.now()))
  const checkSecrets = createSecretsCheck(database.masterKeys)
  gaugeSecrets(metrics, async () => (await checkSecrets(scraped)).length)
  return runtime
}

async function startMessaging(
  { config, database: { db }, time, pause, heartbeats, baseUrl, metrics, log, started }: Base,
  { wakeUps, work }: Nodes,
  localWorkers: LocalWorkers,
) {
  const { now: clock } = time
  const deps = { db, localWorkers, clock, pause, work, heartbeats, baseUrl: () => baseUrl, metrics, log }
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
  { config, database, time: { now: clock }, halt, pause, metrics, heartbeats, tally, log, started }: Base,
  { node, wakeUps, work }: Nodes,
  { accounts, monitors }: Providers,
  runtime: ReturnType<typeof buildRuntime>,
) {
  const trouble = (error: unknown) => log.warn({ error: String(error) }, 'error in a worker; it will retry')
  const workers = startWorkers(runtime, { ...watchReading(log), trouble, pause, work, heartbeats })
  const stopWorkers = started.add(workers.stop)
  gaugeWaiting(metrics, workers.waiting)
  const accountsWatch = startAccountsWatch(accounts, trouble, work, heartbeats)
  started.add(accountsWatch.stop)
  wakeUps.on('pollers', workers.wake)
  wakeUps.on('accounts', accountsWatch.wake)
  const facts = () => ({
    now: clock(),
    opened: accounts.opened(),
    expiredBefore: workers.expirySearchedUntil(),
  })
  const checks = startDueChecks({
    db: database.db,
    work,
    receivesWakeUps: node.receivesWakeUps,
    facts,
    trouble,
    pause,
    heartbeats,
  })
  started.add(checks.stop)
  started.add(startProviderHealth(runtime, monitors, trouble, halt, heartbeats).stop) // web nodes call providers, too
  const readRequests = paymentRequestReader(metrics)
  started.add(startNodeMinutes({ db: database.db, clock, tally, readRequests, trouble, heartbeats }).stop)
  const days = config.TOLLGATE_REDACT_DAYS
  if (days)
    started.add(
      startRedaction(runtime, days, { ...watchRedaction(metrics, log), trouble, pause, heartbeats }).stop,
    )
  return stopWorkers
}

function startLedgerWorker(
  { config, pause, metrics, heartbeats, log, started }: Base,
  runtime: ReturnType<typeof buildRuntime>,
  messages: Awaited<ReturnType<typeof startMessaging>>,
) {
  const { TOLLGATE_TIME_ZONE: zone, TOLLGATE_LEDGER_MAIL: to } = config
  const messenger = messages.find('email')?.messenger
  if (to && !messenger) log.warn('The heads of the ledger are not mailed: no messenger for email is set up.')
  const mail = to && messenger ? { to, messenger } : undefined
  const trouble = (error: unknown) => log.warn({ error: String(error) }, 'error in the ledger; it will retry')
  started.add(
    startLedger(runtime, { ...watchLedger(metrics, log), zone, mail, trouble, pause, heartbeats }).stop,
  )
}

function mailUsers(
  { pause, heartbeats, log, started }: Base,
  { work }: Nodes,
  runtime: ReturnType<typeof buildRuntime>,
  messages: Awaited<ReturnType<typeof startMessaging>>,
) {
  const trouble = (error: unknown) =>
    log.warn({ error: String(error) }, 'error in the mails to users; it will retry')
  const messenger = messages.find('email')?.messenger
  started.add(startUserMails(runtime, { messenger, trouble, pause, work, heartbeats }).stop)
}

function startDelivering(
  { config, database, time, pause, heartbeats, metrics, log, started }: Base,
  { node, wakeUps, work }: Nodes,
  { traces }: ReturnType<typeof buildRuntime>,
  localWorkers: LocalWorkers,
) {
  const { now: clock } = time
  const undispatched = () => wakeUps.wake('senders')
  const deps = {
    localWorkers,
    clock,
    pause,
    leases: node,
    work,
    heartbeats,
    traces,
    undispatched,
    metrics,
    log,
  }
  const deliveries = openDeliveries(config, database, deps)
  const stop = started.add(deliveries.stop)
  wakeUps.on('senders', deliveries.wake)
  return { stop, usedSecrets: deliveries.usedSecrets }
}

function recordLastUses(
  { database: { db }, time, heartbeats, log, started }: Base,
  { callers }: ReturnType<typeof buildRuntime>,
  secrets: UsedCredentials,
) {
  const trouble = (error: unknown) =>
    log.warn({ error: String(error) }, 'error in the last uses of keys; it will retry')
  started.add(startLastUses({ db, clock: time.now, keys: callers.used, secrets, trouble, heartbeats }).stop)
}
