import type { Command } from 'commander'
import { rotateIpnSecret } from '../../actions/merchants/credentials.ts'
import type { Mode } from '../../core/mode.ts'
import { noMerchant, type Opened, withMasterKeys } from '../database.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { dateTime, facts, paint } from '../terminal.ts'
import { modeOption, overlapOption } from '../values.ts'

type Rotation = { merchant: string; mode: Mode; overlap: number }

export function addIpnSecretCommands(merchant: Command, cli: Cli) {
  const secret = merchant
    .command('ipn-secret')
    .description("Change what signs a merchant's notifications.")
    .addHelpText('after', examples('tollgate merchant ipn-secret rotate --merchant 7c2k9m0x4f'))
  secret
    .command('rotate')
    .description(
      'Issue a new signing secret. Until the overlap ends, notifications are signed with the old one too; one ' +
        'that is older still ends now.',
    )
    .requiredOption('--merchant <id>', 'whose secret')
    .addOption(modeOption('of which notifications').default('test'))
    .addOption(overlapOption('how long the old secret still signs'))
    .addHelpText(
      'after',
      examples(
        'tollgate merchant ipn-secret rotate --merchant 7c2k9m0x4f',
        'tollgate merchant ipn-secret rotate --merchant 7c2k9m0x4f --mode live --overlap 7d',
        'tollgate merchant ipn-secret rotate --merchant 7c2k9m0x4f --mode live --overlap 0  # the old one leaked',
      ),
    )
    .action(async (asked: Rotation) => cli.print(await withMasterKeys(database => rotate(database, asked))))
}

async function rotate(
  { db, masterKeys, clock }: Opened,
  { merchant, mode, overlap }: Rotation,
): Promise<Output> {
  const rotated = await rotateIpnSecret(db, masterKeys, merchant, mode, overlap, clock())
  if (!rotated) throw noMerchant(merchant)
  const { ipn_secret, old_secret_valid_until: until } = rotated
  const text = [
    `Merchant ${merchant} has a new signing secret for its ${mode} notifications.`,
    facts([
      ['ipn_secret', ipn_secret],
      ['old secret', overlap === 0 ? 'ends now' : `signs too until ${dateTime(new Date(until))}`],
    ]),
    paint('yellow', 'The secret is shown this once.'),
  ]
  return { data: rotated, text: text.join('\n\n') }
}
