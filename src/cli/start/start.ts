import cluster from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import type { Gateway, GatewayOptions } from '../../main.ts'
import { createLog } from '../../observe/log.ts'
import { startEmbedded } from '../../postgres/embedded.ts'
import { PrivilegeError, userToBecome } from '../../start/privileges.ts'
import { joinGroup } from '../../start/processGroup.ts'
import { readSoundSettings } from '../../start/settings.ts'
import { startSupervisor } from '../../start/supervisor.ts'
import { exitCodes, exitOnBug } from '../failure.ts'
import type { CliCommand } from '../cliCommand.ts'
import { printProgress } from '../terminal.ts'
import { version } from '../version.ts'
import { banner, startedData } from './banner.ts'
import { humanLog } from './humanLog.ts'
import { settingsHelp } from './settingsHelp.ts'

const exitAfterMs = 1000
const defaultStopSeconds = 5 // time for a load balancer to see /readyz; not needed at a terminal
// npm and some supervisors repeat a Ctrl-C that the terminal has already sent to the process.
const sameSignalMs = 500

export function addStart(program: CliCommand) {
  program
    .command('start')
    .description('Start the gateway, and its own PostgreSQL if DATABASE_URL is not set. Ctrl-C stops both.')
    .addHelpText('after', settingsHelp)
    .examples(
      'tollgate start',
      'PORT=9000 TOLLGATE_DATA_DIR=/var/lib/tollgate tollgate start',
      'HOST=0.0.0.0 TOLLGATE_BASE_URL=https://pay.example tollgate start',
      'DATABASE_URL=postgres://tollgate:secret@db:5432/tollgate TOLLGATE_MASTER_KEY=... tollgate start --json',
    )
    .action(() => start(program))
}

// With TOLLGATE_PROCESSES above 1 this program starts itself again as each of the processes.
async function start(program: CliCommand) {
  const config = await readSoundSettings().catch(failSoon)
  const log = createLog(config.LOG_LEVEL, process.stderr.isTTY ? humanLog(process.stderr) : undefined)
  exitOnBug(error => log.fatal({ error: errorFields(error) }, 'bug'))
  hideInfoAtTerminal(config, log)
  if (config.TOLLGATE_PROCESSES === 1) await serve(program, config, log)
  else if (cluster.isPrimary) await supervise(config, log)
  else await serveInGroup(program, config, log)
}

async function serve(program: CliCommand, config: Config, log: Logger) {
  const stop = listenForStop(() => {
    hideInfoAtTerminal(config, log)
    printProgress('\nStopping...')
  })
  const runAs = userToBecome()
  if (!config.DATABASE_URL) printProgress(`Starting PostgreSQL in ${config.TOLLGATE_DATA_DIR}`)
  const gateway = await open(config, log, { runAs })
  if (!stop.isRequested()) await showStarted(program, gateway, config, log)
  await stop.requested
  await gateway.stop()
  printProgress('Stopped.')
}

async function open(config: Config, log: Logger, more: Partial<GatewayOptions>): Promise<Gateway> {
  const { startGateway } = await import('../../main.ts') // half of all modules; other commands do not need them
  const stopSeconds = config.TOLLGATE_STOP_SECONDS ?? (process.stderr.isTTY ? 0 : defaultStopSeconds)
  const onLost = (why: string) => exitWithoutDatabase(log, why)
  return startGateway(config, { log, stopSeconds, onLost, ...more }).catch(failSoon)
}

async function showStarted(program: CliCommand, gateway: Gateway, config: Config, log: Logger) {
  const link = gateway.embedded && process.stdout.isTTY ? await supportLink(gateway) : undefined
  program.print({ data: startedData(gateway, config, link), text: banner(gateway, config, link) })
  log.level = config.LOG_LEVEL
}

// One of the processes. It gets the stop from the supervisor, and also from a terminal, which signals all of them.
async function serveInGroup(program: CliCommand, config: Config, log: Logger) {
  const stop = listenForStop(() => hideInfoAtTerminal(config, log))
  const group = await joinGroup(version, stop.request).catch(failSoon)
  const gateway = await open(config, log, { group })
  if (group.isFirst && !stop.isRequested()) await showStarted(program, gateway, config, log)
  log.level = config.LOG_LEVEL
  group.listening()
  await stop.requested
  await gateway.stop()
  group.leave()
}

// Owns the embedded database, so that it outlives each of the processes and ends with this one. It answers no request.
async function supervise(config: Config, log: Logger) {
  if (userToBecome()) throw new PrivilegeError(noRoot)
  const stop = listenForStop(() => printProgress('\nStopping...'))
  if (!config.DATABASE_URL) printProgress(`Starting PostgreSQL in ${config.TOLLGATE_DATA_DIR}`)
  const database = config.DATABASE_URL ? undefined : await startEmbedded(config.TOLLGATE_DATA_DIR, 'gateway')
  database?.onExit(why => exitWithoutDatabase(log, why))
  const supervisor = startSupervisor(config.TOLLGATE_PROCESSES, version, log)
  void stop.requested.then(supervisor.stop)
  const failed = await supervisor.started // the process has said why
  if (failed === undefined) {
    log.level = config.LOG_LEVEL
    await stop.requested
  }
  await supervisor.stop()
  await database?.stop()
  if (failed !== undefined) process.exitCode = failed
  else printProgress('Stopped.')
}

const noRoot =
  'TOLLGATE_PROCESSES does not work for root: the supervisor starts a process again that has ended, so it would have to ' +
  'stay root. Start Tollgate as an ordinary user who owns the data folder (User= in a systemd unit).'

// A failure here does not stop the gateway: the link is optional.
const supportLink = ({ makeSupportLink }: Gateway) =>
  makeSupportLink().then(
    ({ link }) => link,
    () => undefined,
  )

// At a terminal the banner replaces the info lines of the log.
function hideInfoAtTerminal({ LOG_LEVEL }: Config, log: Logger) {
  if (process.stderr.isTTY && LOG_LEVEL === 'info') log.level = 'warn'
}

// Everything has been stopped. If the database requires a password and none is set, the driver leaves a half-open
// connection, which would keep the process alive for up to a minute; the channel to a supervisor would for ever.
function failSoon(error: unknown): never {
  setTimeout(() => process.exit(), exitAfterMs).unref()
  throw error
}

// A supervisor restarts the process, and the start recovers the database.
function exitWithoutDatabase(log: Logger, why: string) {
  log.fatal(why)
  process.exit(exitCodes.unavailable)
}

const errorFields = (error: unknown) =>
  error instanceof Error ? { message: error.message, stack: error.stack } : { message: String(error) }

// `requested` resolves at the first SIGINT or SIGTERM. A later one exits at once.
function listenForStop(onRequest: () => void) {
  let requestedAt: number | undefined
  const stop = new AbortController()
  const requested = once(stop.signal, 'abort')
  const request = () => {
    if (requestedAt !== undefined) return
    requestedAt = performance.now()
    onRequest()
    stop.abort()
  }
  const handle = () => {
    if (requestedAt !== undefined && performance.now() - requestedAt > sameSignalMs)
      process.exit(exitCodes.forced)
    request()
  }
  process.on('SIGINT', handle)
  process.on('SIGTERM', handle)
  return { requested, request, isRequested: () => requestedAt !== undefined }
}
