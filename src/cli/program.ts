import { Command } from 'commander'
import { addProviderCommands } from './provider/provider.ts'
import { addDoctor } from './doctor/doctor.ts'
import { examples, exitCodesHelp } from './help.ts'
import { addKeyCommands } from './merchant/key.ts'
import { addMasterKeyCommands } from './merchant/masterKey.ts'
import { addMerchantCommands } from './merchant/merchant.ts'
import { addMessageCommands } from './message/message.ts'
import { addMigrate } from './migrate.ts'
import { addNotificationCommands } from './notification/notification.ts'
import { addOutletCommands } from './outlet/outlet.ts'
import type { Cli } from './output.ts'
import { addPaymentCommands } from './payment/payment.ts'
import { addTaskCommands } from './payment/task.ts'
import { addStart } from './start/start.ts'
import { addSupportCommands } from './support/support.ts'
import { paint } from './terminal.ts'
import { version } from './version.ts'

// Everything that `tollgate` can be told. Commander throws what it does not understand; cli.ts says it.
export function createProgram(cli: Cli): Command {
  const program = new Command('tollgate')
    .description('A hosted-checkout payment gateway that anyone can run.')
    .version(version, '-v, --version', 'show the version')
    .option('--json', 'answer and fail in JSON, for scripts')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [command]', 'Show the help of a command.')
    .configureHelp({ showGlobalOptions: true, styleTitle: text => paint('bold', text) })
    .configureOutput({ outputError: () => {}, ...(cli.json && { writeErr: () => {} }) })
    .exitOverride()
  addStart(program, cli)
  addDoctor(program, cli)
  addMigrate(program, cli)
  addMerchantCommands(program, cli)
  addOutletCommands(program, cli)
  addKeyCommands(program, cli)
  addMasterKeyCommands(program, cli)
  addProviderCommands(program, cli)
  addPaymentCommands(program, cli)
  addNotificationCommands(program, cli)
  addMessageCommands(program, cli)
  addTaskCommands(program, cli)
  addSupportCommands(program, cli)
  return program
    .addHelpText('after', exitCodesHelp)
    .addHelpText(
      'after',
      examples('tollgate start', 'tollgate doctor', "tollgate merchant add --name 'Ama Shop'"),
    )
}
