import type { Command } from 'commander'
import { checkAccount } from '../../actions/channels/checkAccount.ts'
import { prepareChange, saveChange } from '../../actions/channels/setAccount.ts'
import type { StoredAccount } from '../../store/channels/accounts.ts'
import { type Opened, withMasterKeys } from '../database.ts'
import { CannotDo } from '../failure.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { facts, paint } from '../terminal.ts'
import { readName } from '../values.ts'
import { checkFact, mustNotBeBad, shownSecrets, shownSecretsWords } from './checkText.ts'
import { deskOf, mustBeChannel, storedOf } from './desk.ts'
import { readChanges } from './secretInput.ts'

type Asked = { label?: string; test: boolean }

export function addChannelSet(channel: Command, cli: Cli) {
  channel
    .command('set <account> [name=value...]')
    .description(
      'Change settings of an account: all that are given, or none when one is wrong. An empty value goes back to the usual ' +
        'one. Payments that are under way are asked about with the new settings, so they have to be of the same account ' +
        'at the provider.',
    )
    .option('--label <text>', 'what people call it', readName)
    .option('--no-test', 'do not ask the provider whether the settings are good')
    .addHelpText(
      'after',
      examples(
        'tollgate channel set paystack-4f7k2q secret_key=-',
        'tollgate channel set mtn-9d3m0x egress_address=203.0.113.7',
        'tollgate channel set mtn-9d3m0x egress_address=  # back to the usual one',
        "tollgate channel set mtn-9d3m0x --label 'MTN head office'",
      ),
    )
    .action(async (name: string, words: string[], asked: Asked) =>
      cli.print(await withMasterKeys(opened => set(opened, name, words, asked))),
    )
}

async function set(opened: Opened, name: string, words: string[], asked: Asked): Promise<Output> {
  if (words.length === 0 && asked.label === undefined)
    throw new CannotDo('refused', 'Say what to change: NAME=VALUE or --label.')
  const row = await storedOf(opened.db, name)
  const { label = row.label } = asked
  if (words.length === 0) {
    await save(opened, row, { label })
    return { data: { account: name, label }, text: `${name} is called ${label} now.` }
  }
  const desk = await deskOf(opened)
  mustBeChannel(desk.kinds, row.channel)
  const prepared = prepareChange(desk, row, await readChanges(words))
  if (prepared.faults) throw new CannotDo('refused', 'Nothing was changed.', { faults: [...prepared.faults] })
  const { kind, given, opened: line, sealed } = prepared
  const checked = asked.test ? await checkAccount(kind, given, line) : undefined
  mustNotBeBad(checked)
  await save(opened, row, { ...sealed, label })
  const shown = shownSecrets(kind, words)
  return {
    data: { account: name, label, check: checked ?? null, shown_secrets: shown },
    text: [
      `${name} is set; every node knows within a second, and asks with it about the payments that are under way there.`,
      facts([checkFact(checked)]),
      ...shownSecretsWords(shown).map(sentence => paint('yellow', sentence)),
    ].join('\n\n'),
  }
}

async function save({ db, clock }: Opened, row: StoredAccount, changed: Parameters<typeof saveChange>[2]) {
  if ((await saveChange(db, row, changed, clock())) === 'changed_meanwhile')
    throw new CannotDo('refused', `Somebody else has changed ${row.account} meanwhile: run this again.`)
}
