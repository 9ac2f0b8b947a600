import { auditedDb } from '../../actions/access/audit.ts'
import type { IpnPasswords } from '../../actions/merchants/credentials.ts'
import { setMerchant, type SetMerchant } from '../../actions/merchants/setMerchant.ts'
import { settingsEntry } from '../../core/access/auditEntries.ts'
import {
  merchantSettingNames,
  readMerchantSettings,
  type SettingTexts,
  unreadableSettings,
} from '../../core/merchant/settings.ts'
import { settingTable } from '../../core/merchant/settingTable.ts'
import { type ShownSetting, shownSettings } from '../../core/merchant/shownSettings.ts'
import { checkMasterKeys } from '../../start/database.ts'
import { type CommandContext, merchantNotFound, requireMerchant } from '../database.ts'
import { refused } from '../failure.ts'
import type { CliCommand } from '../cliCommand.ts'
import { withoutControls } from '../../core/timeline/history.ts'
import type { Output } from '../output.ts'
import { type Fact, facts, heading, paint, paragraphs } from '../terminal.ts'

export function addMerchantSet(merchant: CliCommand) {
  merchant
    .command('set <id> <setting=value...>')
    .description(
      'Change settings of a merchant: all of them, or none if one is wrong. ipn_style=basic makes a password for each ' +
        'mode, shown only now. Passwords are sent only to the origin of ipn_url and to allowed_origins.',
    )
    .examples(
      'tollgate merchant set 7c2k9m0x4f ipn_url=https://shop.example/ipn expiry_minutes=30',
      'tollgate merchant set 7c2k9m0x4f allowed_origins=https://shop.example,https://www.shop.example',
      'tollgate merchant set 7c2k9m0x4f ipn_style=basic ipn_url=https://shop.example/ipn form_ipn_url=registered',
      'tollgate merchant set 7c2k9m0x4f currencies=GHS,UGX max_total=20000,UGX:8000000',
      'tollgate merchant set 7c2k9m0x4f long_invoice_ids=on frame_origins=https://shop.example',
      "tollgate merchant set 7c2k9m0x4f accent='#0b6b4f' support_phone=0302550100 refund_policy='Refunds within 7 days'",
      'tollgate merchant set 7c2k9m0x4f expiry_minutes=  # back to the default',
      'tollgate merchant show 7c2k9m0x4f  # every setting and its value',
    )
    .addHelpText('after', () => `\n${heading('Settings:')}\n${facts(settingHelp)}`)
    .runWithDatabase(set)
}

const settingHelp = merchantSettingNames.map((name): Fact => [name, settingTable[name].texts.en.does])

async function set(context: CommandContext, id: string, changes: string[]): Promise<Output> {
  const { db, masterKeys } = context
  // A change of the style may make passwords, which are sealed with the master key.
  if (changes.some(change => change.startsWith('ipn_style='))) await checkMasterKeys(context)
  const merchant = await requireMerchant(db, id)
  const { actor } = context
  const now = context.clock()
  const recorded = auditedDb(db, actor, now, (result: SetMerchant | undefined) =>
    result && result.faults.length === 0 ? settingsEntry(id, result) : undefined,
  )
  const changed = await setMerchant(recorded, id, changes, masterKeys, { by: actor.id, now })
  if (!changed) throw merchantNotFound(id)
  if (changed.faults.length > 0) throw refused('Nothing was changed.', { faults: changed.faults })
  const { texts: stored, ipn_passwords } = changed
  const names = new Set(changes.map(change => change.split('=')[0]))
  const shown = shownSettings(stored).filter(({ name }) => names.has(name))
  return {
    data: { merchant_id: id, settings: settingsData(stored), ...(ipn_passwords && { ipn_passwords }) },
    text: paragraphs(
      `${merchant.name} is changed; every node uses it within a second.`,
      facts(shown.map(settingFact)),
      ipn_passwords && passwordText(ipn_passwords),
    ),
  }
}

const passwordText = ({ test, live }: IpnPasswords) =>
  paragraphs(
    facts([
      ['test ipn_password', test],
      ['live ipn_password', live],
    ]),
    paint('yellow', 'The passwords are shown only now.'),
  )

export const settingsData = (stored: SettingTexts) =>
  Object.fromEntries(shownSettings(stored).map(({ name, value }) => [name, value]))

export const settingFact = ({ name, value, isDefault, unreadable }: ShownSetting): Fact => [
  name,
  unreadable === undefined
    ? `${value ?? 'none'}${isDefault ? ' (default)' : ''}`
    : `cannot be read: ${withoutControls(unreadable)} (until it is set again: ${value ?? 'none'})`,
]

export const registerOriginsCommand = (merchant_id: string) =>
  `tollgate merchant set ${merchant_id} allowed_origins=https://shop.example`

export const originsAdvice = (merchant_id: string) =>
  'No origins are registered: a payment may send the customer to any address. The hash does not cover these ' +
  'addresses, and a customer can change them in a request that comes from a form or a link.\n' +
  `Register the shop's own, separated by commas: ${registerOriginsCommand(merchant_id)}`

// False if the setting cannot be read: then some are registered.
export const hasNoOrigins = (stored: SettingTexts) =>
  readMerchantSettings(stored).allowed_origins.length === 0 &&
  !unreadableSettings(stored).includes('allowed_origins')
