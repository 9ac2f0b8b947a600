import type { Command } from 'commander'
import { saveAccountChange } from '../../actions/providers/setAccount.ts'
import { type Opened, withDatabase } from '../database.ts'
import { CannotDo } from '../failure.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { storedOf } from './accountSetup.ts'

export function addProviderSwitches(command: Command, cli: Cli) {
  command
    .command('disable <account>')
    .description('Offer an account no more. Payments that are under way there are asked about to their end.')
    .addHelpText('after', examples('tollgate provider disable mtn-9d3m0x'))
    .action(async (name: string) => cli.print(await withDatabase(opened => turn(opened, name, false))))
  command
    .command('enable <account>')
    .description('Offer a disabled account again.')
    .addHelpText('after', examples('tollgate provider enable mtn-9d3m0x'))
    .action(async (name: string) => cli.print(await withDatabase(opened => turn(opened, name, true))))
}

async function turn({ db, clock }: Opened, name: string, on: boolean): Promise<Output> {
  const row = await storedOf(db, name)
  const now = clock()
  const disabled_at = on ? null : (row.disabled_at ?? now)
  if ((await saveAccountChange(db, row, { disabled_at }, now)) === 'changed_meanwhile')
    throw new CannotDo('refused', `Somebody else has changed ${name} meanwhile: run this again.`)
  const { provider, mode, merchant_id } = row
  return {
    data: { account: name, provider, mode, merchant_id, disabled_at },
    text: told(name, merchant_id, on),
  }
}

function told(name: string, merchant_id: string | null, on: boolean): string {
  if (on) return `${name} is offered again within a second.`
  const then = merchant_id
    ? ` What merchant ${merchant_id} took by it goes to the operator's accounts from then on, where these serve the same way.`
    : ''
  return `${name} is not offered any more within a second; payments under way there are asked about.${then}`
}
