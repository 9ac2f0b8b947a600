import type { Command } from 'commander'
import { rotateIpnPassword, useMerchantId } from '../../actions/merchants/credentials.ts'
import { readMerchantSettings, type SettingWords } from '../../core/merchant/settings.ts'
import type { Mode } from '../../core/mode.ts'
import { sealedIpnPassword, type SealedIpnPasswords } from '../../store/merchants/merchants.ts'
import { noMerchant, type Opened, withMasterKeys } from '../database.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { facts, paint } from '../terminal.ts'
import { modeOption } from '../values.ts'

type Rotation = { merchant: string; mode: Mode; merchantId?: true }

export const rotateCommand = (merchant_id: string, mode: Mode) =>
  `tollgate merchant ipn-password rotate --merchant ${merchant_id} --mode ${mode}`

// The kind of password that style basic sends: one made for this mode, or the merchant_id. The password itself is shown once
// only, when it is made.
export type PasswordState = 'own' | 'merchant_id'

// Null in every other style.
export function passwordStates(
  merchant: SealedIpnPasswords & { settings: SettingWords },
): Record<Mode, PasswordState> | null {
  if (readMerchantSettings(merchant.settings).ipn_style !== 'basic') return null
  return { test: stateOf(merchant, 'test'), live: stateOf(merchant, 'live') }
}

const stateOf = (passwords: SealedIpnPasswords, mode: Mode): PasswordState =>
  sealedIpnPassword(passwords, mode) === null ? 'merchant_id' : 'own'

export function addIpnPasswordCommands(merchant: Command, cli: Cli) {
  const password = merchant
    .command('ipn-password')
    .description("Change the password that a merchant's notifications of ipn_style basic log in with.")
    .addHelpText('after', examples(rotateCommand('7c2k9m0x4f', 'live')))
  password
    .command('rotate')
    .description('Make a new password for one mode. It holds at once: a login has one password at a time.')
    .requiredOption('--merchant <id>', 'whose password')
    .addOption(modeOption('of which notifications').makeOptionMandatory())
    .option('--merchant-id', "for an old client: the merchant's id is the password, which is no secret")
    .addHelpText(
      'after',
      examples(
        rotateCommand('7c2k9m0x4f', 'test'),
        rotateCommand('7c2k9m0x4f', 'live'),
        `${rotateCommand('7c2k9m0x4f', 'test')} --merchant-id`,
      ),
    )
    .action(async (asked: Rotation) => cli.print(await withMasterKeys(database => rotate(database, asked))))
}

async function rotate({ db, masterKeys }: Opened, { merchant, mode, merchantId }: Rotation): Promise<Output> {
  const rotated = await (merchantId
    ? useMerchantId(db, merchant, mode)
    : rotateIpnPassword(db, masterKeys, merchant, mode))
  if (!rotated) throw noMerchant(merchant)
  const text = [
    `The ${mode} notifications of merchant ${merchant} in style basic log in with this password within a second.`,
    facts([['ipn_password', rotated.ipn_password]]),
    paint(
      'yellow',
      merchantId ? 'Whoever knows the merchant’s id knows it.' : 'The password is shown this once.',
    ),
  ]
  return { data: rotated, text: text.join('\n\n') }
}
