import type { Command } from 'commander'
import type { Logger } from 'pino'
import type { Config } from '../../config.ts'
import type { Gateway } from '../../main.ts'
import { createLog } from '../../observe/log.ts'
import { userToBecome } from '../../start/privileges.ts'
import { readSoundSettings } from '../../start/settings.ts'
import { onBug } from '../bugs.ts'
import { exitCodes } from '../exitCodes.ts'
import { examples } from '../help.ts'
import type { Cli } from '../output.ts'
import { settingsHelp } from '../settingsHelp.ts'
import { say } from '../terminal.ts'
import { banner, started } from './banner.ts'
import { humanLog } from './humanLog.ts'
import { listenForStop } from './stopSignal.ts'

const endWithinMs = 1000
const defaultStopSeconds = 5 // for whoever watches /readyz; nobody does where a person presses Ctrl-C

export function addStart(program: Command, cli: Cli) {
  program
    .command('start')
    .description(
      'Start the gateway, and its own PostgreSQL where DATABASE_URL is not set. Ctrl-C stops both.',
    )
    .addHelpText('after', settingsHelp)
    .addHelpText(
      'after',
      examples(
        'tollgate start',
        'PORT=9000 TOLLGATE_DATA_DIR=/var/lib/tollgate tollgate start',
        'HOST=0.0.0.0 TOLLGATE_BASE_URL=https://pay.example tollgate start',
        'DATABASE_URL=postgres://tollgate:secret@db:5432/tollgate TOLLGATE_MASTER_KEY=... tollgate start --json',
      ),
    )
    .action(() => start(cli))
}

async function start(cli: Cli) {
  const config = await readSoundSettings()
  const log = createLog(config.LOG_LEVEL, process.stderr.isTTY ? humanLog(process.stderr) : undefined)
  onBug(error => log.fatal({ error: asFields(error) }, 'bug'))
  const stop = listenForStop(() => {
    quieten(config, log)
    say('\nStopping...')
  })
  const runAs = userToBecome()
  if (!config.DATABASE_URL) say(`Starting PostgreSQL in ${config.TOLLGATE_DATA_DIR}`)
  quieten(config, log)
  const { startGateway } = await import('../../main.ts') // half of all there is to load, which no other command needs
  const stopSeconds = config.TOLLGATE_STOP_SECONDS ?? (process.stderr.isTTY ? 0 : defaultStopSeconds)
  const gateway = await startGateway(config, {
    log,
    stopSeconds,
    runAs,
    onLost: why => endWithoutDatabase(log, why),
  }).catch((error: unknown) => {
    endSoon()
    throw error
  })
  if (!stop.wasAsked()) {
    const link = gateway.embedded && process.stdout.isTTY ? await supportLink(gateway) : undefined
    cli.print({ data: started(gateway, config, link), text: banner(gateway, config, link) })
    log.level = config.LOG_LEVEL
  }
  await stop.asked
  await gateway.stop()
  say('Stopped.')
}

// A gateway that serves does not end because it has no link to show.
const supportLink = ({ makeSupportLink }: Gateway) =>
  makeSupportLink().then(
    made => made.link,
    () => undefined,
  )

// At a terminal the banner, and not the log, tells that all is well.
function quieten({ LOG_LEVEL }: Config, log: Logger) {
  if (process.stderr.isTTY && LOG_LEVEL === 'info') log.level = 'warn'
}

// All is stopped by then. What keeps Node awake for up to a minute more is a connection that the driver has left half
// open because it has no password.
function endSoon() {
  setTimeout(() => process.exit(), endWithinMs).unref()
}

// A supervisor starts us again, and the start repairs what the crash left.
function endWithoutDatabase(log: Logger, why: string) {
  log.fatal(why)
  process.exit(exitCodes.unavailable)
}

const asFields = (error: unknown) =>
  error instanceof Error ? { message: error.message, stack: error.stack } : { message: String(error) }
