import type { Command } from 'commander'
import { rotateIpnPassword, useMerchantId } from '../../actions/merchants/ipnPassword.ts'
import { readSettings } from '../../core/merchant/settings.ts'
import type { Merchant } from '../../store/merchants/merchants.ts'
import { noMerchant, type Opened, withMasterKeys } from '../database.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { facts, paint } from '../terminal.ts'

type Rotation = { merchant: string; merchantId?: true }

export const shownOnce = () => paint('yellow', 'The password is shown this once.')
export const rotateCommand = (merchant_id: string) =>
  `tollgate merchant ipn-password rotate --merchant ${merchant_id}`

// What the password of style basic is; it is never shown again itself.
export type PasswordState = 'own' | 'merchant_id'
export const passwordState = (merchant: Pick<Merchant, 'settings' | 'sealed_ipn_password'>) =>
  readSettings(merchant.settings).ipn_style !== 'basic'
    ? null
    : merchant.sealed_ipn_password
      ? 'own'
      : 'merchant_id'

export function addIpnPasswordCommands(merchant: Command, cli: Cli) {
  const password = merchant
    .command('ipn-password')
    .description("Change the password that a merchant's notifications of ipn_style basic log in with.")
    .addHelpText('after', examples(rotateCommand('7c2k9m0x4f')))
  password
    .command('rotate')
    .description('Make a new password. It holds at once: a login has one password at a time.')
    .requiredOption('--merchant <id>', 'whose password')
    .option('--merchant-id', "for an old client: the merchant's id is the password, which is no secret")
    .addHelpText(
      'after',
      examples(rotateCommand('7c2k9m0x4f'), `${rotateCommand('7c2k9m0x4f')} --merchant-id`),
    )
    .action(async (asked: Rotation) => cli.print(await withMasterKeys(database => rotate(database, asked))))
}

async function rotate({ db, masterKeys }: Opened, { merchant, merchantId }: Rotation): Promise<Output> {
  const rotated = await (merchantId
    ? useMerchantId(db, merchant)
    : rotateIpnPassword(db, masterKeys, merchant))
  if (!rotated) throw noMerchant(merchant)
  const text = [
    `Notifications of merchant ${merchant} in style basic log in with this password within a second.`,
    facts([['ipn_password', rotated.ipn_password]]),
    merchantId ? paint('yellow', 'Whoever knows the merchant’s id knows it.') : shownOnce(),
  ]
  return { data: rotated, text: text.join('\n\n') }
}
