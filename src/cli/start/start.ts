import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import type { Gateway } from '../../main.ts'
import { createLog } from '../../observe/log.ts'
import { userToBecome } from '../../start/privileges.ts'
import { readSoundSettings } from '../../start/settings.ts'
import { exitCodes, exitOnBug } from '../failure.ts'
import type { CliCommand } from '../cliCommand.ts'
import { printProgress } from '../terminal.ts'
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

async function start(program: CliCommand) {
  const config = await readSoundSettings()
  const log = createLog(config.LOG_LEVEL, process.stderr.isTTY ? humanLog(process.stderr) : undefined)
  exitOnBug(error => log.fatal({ error: errorFields(error) }, 'bug'))
  const stop = listenForStop(() => {
    hideInfoAtTerminal(config, log)
    printProgress('\nStopping...')
  })
  const runAs = userToBecome()
  if (!config.DATABASE_URL) printProgress(`Starting PostgreSQL in ${config.TOLLGATE_DATA_DIR}`)
  hideInfoAtTerminal(config, log)
  const { startGateway } = await import('../../main.ts') // half of all modules; other commands do not need them
  const stopSeconds = config.TOLLGATE_STOP_SECONDS ?? (process.stderr.isTTY ? 0 : defaultStopSeconds)
  const gateway = await startGateway(config, {
    log,
    stopSeconds,
    runAs,
    onLost: why => exitWithoutDatabase(log, why),
  }).catch((error: unknown) => {
    exitSoon()
    throw error
  })
  if (!stop.isRequested()) {
    const link = gateway.embedded && process.stdout.isTTY ? await supportLink(gateway) : undefined
    program.print({ data: startedData(gateway, config, link), text: banner(gateway, config, link) })
    log.level = config.LOG_LEVEL
  }
  await stop.requested
  await gateway.stop()
  printProgress('Stopped.')
}

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
// connection, which would keep the process alive for up to a minute.
function exitSoon() {
  setTimeout(() => process.exit(), exitAfterMs).unref()
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
  const requested = new Promise<void>(resolve => {
    const handle = () => {
      const now = performance.now()
      if (requestedAt === undefined) {
        requestedAt = now
        onRequest()
        resolve()
      } else if (now - requestedAt > sameSignalMs) process.exit(exitCodes.forced)
    }
    process.on('SIGINT', handle)
    process.on('SIGTERM', handle)
  })
  return { requested, isRequested: () => requestedAt !== undefined }
}
