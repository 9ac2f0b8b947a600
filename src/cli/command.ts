import { type Command, CommanderError } from 'commander'
import { addAdopt } from './adopt.ts'
import { addAuditCommands } from './audit/audit.ts'
import { addBackupCommands } from './backup/backup.ts'
import { addMoveCommand } from './backup/move.ts'
import { addRestoreCommand } from './backup/restore.ts'
import { CliCommand } from './cliCommand.ts'
import { addDoctor } from './doctor/doctor.ts'
import { exitCodeMeanings, exitCodes, failureOf } from './failure.ts'
import { addLedgerCommands } from './ledger/ledger.ts'
import { addMasterKeyCommands } from './masterKey.ts'
import { addMerchantCommands } from './merchant/merchant.ts'
import { addKeyCommands } from './merchant/rotate.ts'
import { addMessageCommands } from './message.ts'
import { addMigrate } from './migrate.ts'
import { addNodes } from './nodes.ts'
import { addNotificationCommands } from './notification/notification.ts'
import { addOutletCommands } from './outlet/outlet.ts'
import { printFailure } from './output.ts'
import { addPaymentCommands } from './payment/payment.ts'
import { addTaskCommands } from './payment/task.ts'
import { addPersonCommands } from './person/person.ts'
import { addProviderCommands } from './provider/provider.ts'
import { addRefundCommands } from './refund/refund.ts'
import { addRequestCommands } from './request/request.ts'
import { addStart } from './start/start.ts'
import { addSupportCommands } from './support.ts'
import { heading } from './terminal.ts'
import { addUserCommands } from './user/user.ts'
import { version } from './version.ts'

// One run of `tollgate`: it prints its result on standard output, or an error on standard error with an exit code.
export function createCommand(args: readonly string[]) {
  const json = args.includes('--json') // read before parsing, so that usage errors are printed as JSON too
  const program = createProgram(json)

  async function run() {
    try {
      if (args.length === 0) program.outputHelp()
      else await program.parseAsync(args, { from: 'user' })
    } catch (error) {
      fail(error)
    }
  }

  function fail(error: unknown) {
    if (error instanceof CommanderError && error.exitCode === 0) return // --help or --version
    const failure = failureOf(error)
    process.exitCode = failure.exit
    const isHelp = error instanceof CommanderError && error.code === 'commander.help' // a subcommand is missing
    if (isHelp && !json) return
    if (isHelp) failure.message = 'A command is missing.'
    if (failure.exit === exitCodes.usage) failure.message += ` ${helpHint(program, args)}`
    printFailure(json, failure)
  }

  return { run, fail }
}

// Commander throws usage errors instead of printing them; createCommand prints them.
export function createProgram(json: boolean): CliCommand {
  const program = new CliCommand(json, 'tollgate')
    .description('A hosted-checkout payment gateway that anyone can run.')
    .version(version, '-v, --version', 'show the version')
    .option('--json', 'print results and errors as JSON, for scripts')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'Show the help of a command.')
    .configureHelp({ showGlobalOptions: true, styleTitle: heading })
    .configureOutput({ outputError: () => {}, ...(json && { writeErr: () => {} }) })
    .exitOverride()
  for (const add of [
    addStart,
    addDoctor,
    addMigrate,
    addNodes,
    addBackupCommands,
    addRestoreCommand,
    addAdopt,
    addMoveCommand,
    addMerchantCommands,
    addOutletCommands,
    addKeyCommands,
    addMasterKeyCommands,
    addProviderCommands,
    addPaymentCommands,
    addRefundCommands,
    addRequestCommands,
    addNotificationCommands,
    addMessageCommands,
    addTaskCommands,
    addLedgerCommands,
    addAuditCommands,
    addPersonCommands,
    addSupportCommands,
    addUserCommands,
  ])
    add(program)
  return program
    .addHelpText('after', exitCodesHelp)
    .examples('tollgate start', 'tollgate doctor', "tollgate merchant add --name 'Ama Shop'")
}

const exitCodesHelp = () =>
  `\n${heading('Exit codes:')}\n${exitCodeMeanings.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`).join('\n')}`

// Points to the help of the most specific command that was recognized.
function helpHint(program: Command, args: readonly string[]): string {
  let command = program
  let path = program.name()
  for (const name of args.filter(arg => !arg.startsWith('-'))) {
    const next = command.commands.find(known => known.name() === name)
    if (!next) break
    command = next
    path += ` ${name}`
  }
  return `See ${path} --help.`
}
