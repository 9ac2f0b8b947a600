import type { Command } from 'commander'
import { examples } from '../help.ts'
import type { Cli } from '../output.ts'
import { addChannelAdd } from './add.ts'
import { addChannelConfirm } from './confirm.ts'
import { addChannelList } from './list.ts'
import { addChannelSet } from './set.ts'
import { addChannelStatus } from './status.ts'
import { addChannelTest } from './test.ts'
import { addChannelTurns } from './turn.ts'

export function addChannelCommands(program: Command, cli: Cli) {
  const channel = program
    .command('channel')
    .description('Accounts at providers: add them, set them, try them and look at them.')
    .addHelpText(
      'after',
      examples(
        'tollgate channel add paystack secret_key=- --mode live',
        'tollgate channel list',
        'tollgate channel status',
      ),
    )
  addChannelAdd(channel, cli)
  addChannelSet(channel, cli)
  addChannelConfirm(channel, cli)
  addChannelTest(channel, cli)
  addChannelList(channel, cli)
  addChannelTurns(channel, cli)
  addChannelStatus(channel, cli)
}
