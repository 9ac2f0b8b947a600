import type { Command } from 'commander'
import { rotateKey } from '../../actions/merchants/credentials.ts'
import type { Mode } from '../../core/mode.ts'
import { noMerchant, type Opened, withMasterKeys } from '../database.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { dateTime, facts, paint } from '../terminal.ts'
import { modeOption, overlapOption } from '../values.ts'

type Rotation = { merchant: string; mode: Mode; overlap: number }

export function addKeyCommands(program: Command, cli: Cli) {
  const key = program
    .command('key')
    .description("Change a merchant's keys.")
    .addHelpText('after', examples('tollgate key rotate --merchant 7c2k9m0x4f --overlap 24h'))
  key
    .command('rotate')
    .description('Issue a new key and secret. The old ones go on working for the overlap.')
    .requiredOption('--merchant <id>', 'whose key')
    .addOption(modeOption('which key').default('test'))
    .addOption(overlapOption('how long the old key still works'))
    .addHelpText(
      'after',
      examples(
        'tollgate key rotate --merchant 7c2k9m0x4f',
        'tollgate key rotate --merchant 7c2k9m0x4f --mode live --overlap 7d',
        'tollgate key rotate --merchant 7c2k9m0x4f --mode live --overlap 0  # the old one leaked',
      ),
    )
    .action(async (asked: Rotation) => cli.print(await withMasterKeys(database => rotate(database, asked))))
}

async function rotate(
  { db, masterKeys, clock }: Opened,
  { merchant, mode, overlap }: Rotation,
): Promise<Output> {
  const rotated = await rotateKey(db, masterKeys, merchant, mode, overlap, clock())
  if (!rotated) throw noMerchant(merchant)
  const { merchant_key, secret_key, old_keys_valid_until } = rotated
  const text = [
    `Merchant ${merchant} has a new ${mode} key.`,
    facts([
      ['merchant_key', merchant_key],
      ['secret_key', secret_key],
      ['old key', overlap === 0 ? 'ends now' : `works until ${dateTime(new Date(old_keys_valid_until))}`],
    ]),
    paint('yellow', 'The secret is shown this once.'),
  ]
  return { data: rotated, text: text.join('\n\n') }
}
