import type { Command } from 'commander'
import { setMerchant } from '../actions/setMerchant.ts'
import { plainWords } from '../core/story.ts'
import type { Answer, Cli } from './answer.ts'
import { CannotDo } from './failure.ts'
import { examples } from './help.ts'
import { merchantOf, noMerchant, type Opened, withRecords } from './records.ts'
import { type SettingLine, settingLines } from './settingText.ts'
import { facts } from './terminal.ts'

export function addMerchantSet(merchant: Command, cli: Cli) {
  merchant
    .command('set <id> <setting=value...>')
    .description('Change settings of a merchant: all that are given, or none when one is wrong.')
    .addHelpText(
      'after',
      examples(
        'tollgate merchant set 7c2k9m0x4f ipn_url=https://shop.example/ipn expiry_minutes=30',
        'tollgate merchant set 7c2k9m0x4f currencies=GHS,USD',
        'tollgate merchant set 7c2k9m0x4f expiry_minutes=  # back to the default',
        'tollgate merchant show 7c2k9m0x4f  # every setting and its value',
      ),
    )
    .action(async (id: string, changes: string[]) =>
      cli.print(await withRecords(records => set(records, id, changes))),
    )
}

async function set({ db }: Opened, id: string, changes: string[]): Promise<Answer> {
  const merchant = await merchantOf(db, id)
  const changed = await setMerchant(db, id, changes)
  if (!changed) throw noMerchant(id)
  if (changed.faults.length > 0) throw refused(changed.faults)
  return {
    data: { merchant_id: id, settings: settingsData(changed.words) },
    text: told(merchant.name, changed.words, changes),
  }
}

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
      `cannot be read: ${plainWords(unreadable)} (until it is set anew: ${value ?? 'none'})`,
    ] as const
  return [name, `${value ?? 'none'}${isDefault ? ' (default)' : ''}`] as const
}
