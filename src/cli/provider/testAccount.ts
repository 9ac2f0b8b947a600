import type { Command } from 'commander'
import { checkAccount } from '../../actions/providers/checkAccount.ts'
import { type Opened, withMasterKeys } from '../database.ts'
import { CannotDo } from '../failure.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { checkWords } from './checkText.ts'
import { openOne } from './accountSetup.ts'

export function addProviderTest(command: Command, cli: Cli) {
  command
    .command('test <account>')
    .description('Ask the provider whether the settings of an account are good, without charging anybody.')
    .addHelpText('after', examples('tollgate provider test mtn', 'tollgate provider test paystack-4f7k2q'))
    .action(async (name: string) => cli.print(await withMasterKeys(opened => test(opened, name))))
}

async function test(opened: Opened, name: string): Promise<Output> {
  const { account, kind, given } = await openOne(opened, name)
  const checked = await checkAccount(kind, given, account.opened ?? {})
  const text = `${name}: ${checkWords(checked)}`
  const data = { account: name, mode: account.mode, check: checked }
  if (checked.outcome === 'bad' || checked.outcome === 'no_answer')
    throw new CannotDo('refused', text, { data })
  return { data, text }
}
