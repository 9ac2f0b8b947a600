import type { Command } from 'commander'
import { examples } from '../help.ts'
import type { Cli } from '../output.ts'
import { addProviderAdd } from './add.ts'
import { addProviderConfirm } from './confirm.ts'
import { addProviderList } from './list.ts'
import { addProviderSet } from './set.ts'
import { addProviderStatus } from './status.ts'
import { addProviderTest } from './testAccount.ts'
import { addProviderSwitches } from './enable.ts'

export function addProviderCommands(program: Command, cli: Cli) {
  const command = program
    .command('provider')
    .description('Accounts at providers: add them, set them, try them and look at them.')
    .addHelpText(
      'after',
      examples(
        'tollgate provider add paystack secret_key=- --mode live',
        'tollgate provider list',
        'tollgate provider status',
      ),
    )
  addProviderAdd(command, cli)
  addProviderSet(command, cli)
  addProviderConfirm(command, cli)
  addProviderTest(command, cli)
  addProviderList(command, cli)
  addProviderSwitches(command, cli)
  addProviderStatus(command, cli)
}
