import type { Command } from 'commander'
import type { IpnPasswords } from '../../actions/merchants/ipnPassword.ts'
import { setMerchant } from '../../actions/merchants/setMerchant.ts'
import { withoutControls } from '../../core/timeline/history.ts'
import { merchantOf, noMerchant, type Opened, withDatabase, withMasterKeys } from '../database.ts'
import { CannotDo } from '../failure.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { facts, paint } from '../terminal.ts'
import { type SettingLine, settingLines } from './settingText.ts'

export function addMerchantSet(merchant: Command, cli: Cli) {
  merchant
    .command('set <id> <setting=value...>')
    .description(
      'Change settings of a merchant: all that are given, or none when one is wrong. Who chooses ipn_style=basic gets ' +
        'a password for each mode, shown this once. They are sent only to the origin of ipn_url and to allowed_origins.',
    )
    .addHelpText(
      'after',
      examples(
        'tollgate merchant set 7c2k9m0x4f ipn_url=https://shop.example/ipn expiry_minutes=30',
        'tollgate merchant set 7c2k9m0x4f allowed_origins=https://shop.example,https://www.shop.example',
        'tollgate merchant set 7c2k9m0x4f ipn_style=basic ipn_url=https://shop.example/ipn form_ipn_url=registered',
        'tollgate merchant set 7c2k9m0x4f currencies=GHS,UGX max_total=20000,UGX:8000000',
        'tollgate merchant set 7c2k9m0x4f long_invoice_ids=on frame_origins=https://shop.example',
        "tollgate merchant set 7c2k9m0x4f accent='#0b6b4f' support_phone=0302550100 refunds='Refunds within 7 days'",
        'tollgate merchant set 7c2k9m0x4f expiry_minutes=  # back to the default',
        'tollgate merchant show 7c2k9m0x4f  # every setting and its value',
      ),
    )
    .action(async (id: string, changes: string[]) =>
      cli.print(await opening(changes)(database => set(database, id, changes))),
    )
}

// A style may need a password, which is sealed.
const opening = (changes: readonly string[]) =>
  changes.some(change => change.startsWith('ipn_style=')) ? withMasterKeys : withDatabase

async function set({ db, masterKeys }: Opened, id: string, changes: string[]): Promise<Output> {
  const merchant = await merchantOf(db, id)
  const changed = await setMerchant(db, id, changes, masterKeys)
  if (!changed) throw noMerchant(id)
  if (changed.faults.length > 0) throw refused(changed.faults)
  const { words, ipn_passwords } = changed
  const text = told(merchant.name, words, changes)
  return {
    data: { merchant_id: id, settings: settingsData(words), ...(ipn_passwords && { ipn_passwords }) },
    text: ipn_passwords ? `${text}\n\n${passwordText(ipn_passwords)}` : text,
  }
}

const passwordText = ({ test, live }: IpnPasswords) =>
  `${facts([
    ['test ipn_password', test],
    ['live ipn_password', live],
  ])}\n\n${paint('yellow', 'The passwords are shown this once.')}`

const refused = (faults: string[]) => new CannotDo('refused', 'Nothing was changed.', { faults })

export const settingsData = (words: Record<string, string>) =>
  Object.fromEntries(settingLines(words).map(({ name, value }) => [name, value]))

function told(name: string, words: Record<string, string>, changes: string[]): string {
  const names = new Set(changes.map(change => change.split('=')[0]))
  const lines = settingLines(words).filter(line => names.has(line.name))
  return `${name} is set; every node knows within a second.\n\n${facts(lines.map(settingFact))}`
}

export function settingFact({ name, value, isDefault, unreadable }: SettingLine) {
  if (unreadable !== undefined)
    return [
      name,
      `cannot be read: ${withoutControls(unreadable)} (until it is set anew: ${value ?? 'none'})`,
    ] as const
  return [name, `${value ?? 'none'}${isDefault ? ' (default)' : ''}`] as const
}
