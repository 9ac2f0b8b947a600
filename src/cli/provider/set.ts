import { type Command, Option } from 'commander'
import { checkAccount } from '../../actions/providers/checkAccount.ts'
import {
  attemptsInQuestion,
  type NewCredentials,
  prepareChange,
  saveAccountChange,
} from '../../actions/providers/setAccount.ts'
import type { StoredAccount } from '../../store/providers/accounts.ts'
import { type Opened, withMasterKeys } from '../database.ts'
import { CannotDo } from '../failure.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { facts, paint } from '../terminal.ts'
import { readName } from '../values.ts'
import { askSameBusiness, type BusinessAnswer, businessWords } from './businessText.ts'
import { checkFact, mustNotBeBad, shownSecrets, shownSecretsWords } from './checkText.ts'
import { accountSetupOf, mustBeProvider, storedOf } from './accountSetup.ts'
import { readChanges } from './secretInput.ts'

type Asked = { label?: string; test: boolean; sameBusiness?: true; otherBusiness?: true }

export function addProviderSet(command: Command, cli: Cli) {
  command
    .command('set <account> [name=value...]')
    .description(
      'Change settings of an account: all that are given, or none when one is wrong. An empty value goes back to the usual ' +
        'one. With other credentials it asks whether they are of the same business at the provider: only then open ' +
        'attempts go on with them.',
    )
    .option('--label <text>', 'what people call it', readName)
    .addOption(
      new Option(
        '--same-business',
        'new credentials are of the same business: open attempts go on',
      ).conflicts('otherBusiness'),
    )
    .option('--other-business', 'new credentials are of another business: open attempts wait')
    .option('--no-test', 'do not ask the provider whether the settings are good')
    .addHelpText(
      'after',
      examples(
        'tollgate provider set paystack-4f7k2q secret_key=-',
        'tollgate provider set paystack-4f7k2q secret_key=@key.txt --same-business',
        'tollgate provider set mtn-9d3m0x egress_address=203.0.113.7',
        'tollgate provider set mtn-9d3m0x egress_address=  # back to the usual one',
        "tollgate provider set mtn-9d3m0x --label 'MTN head office'",
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
  const desk = await accountSetupOf(opened)
  mustBeProvider(desk.providers, row.provider)
  const prepared = prepareChange(desk, row, await readChanges(words))
  if (prepared.faults) throw new CannotDo('refused', 'Nothing was changed.', { faults: [...prepared.faults] })
  const { kind, given, opened: account, sealed } = prepared
  const checked = asked.test ? await checkAccount(kind, given, account) : undefined
  mustNotBeBad(checked)
  const question = await attemptsInQuestion(opened.db, prepared)
  const answer = question === undefined ? undefined : await answerOf(asked, name, question)
  await save(opened, row, { ...sealed, label }, { ...prepared, isSameBusiness: isSame(asked, answer) })
  const shown = shownSecrets(kind, words)
  return {
    data: {
      account: name,
      label,
      check: checked ?? null,
      business: answer ?? null,
      open_attempts: question ?? null,
      shown_secrets: shown,
    },
    text: [
      `${name} is set; every node uses it within a second.`,
      facts([checkFact(checked)]),
      ...(answer
        ? [paint(answer === 'same' ? 'green' : 'yellow', businessWords(name, question ?? 0, answer))]
        : []),
      ...shownSecretsWords(shown).map(sentence => paint('yellow', sentence)),
    ].join('\n\n'),
  }
}

const answerOf = ({ sameBusiness, otherBusiness }: Asked, name: string, attempts: number) =>
  sameBusiness ? ('same' as const) : otherBusiness ? ('other' as const) : askSameBusiness(name, attempts)

// Credentials that the account had before keep their business, unless the operator says that it is the same.
const isSame = ({ sameBusiness }: Asked, answer: BusinessAnswer | undefined) =>
  sameBusiness === true || answer === 'same'

async function save(
  { db, clock }: Opened,
  row: StoredAccount,
  changed: Parameters<typeof saveAccountChange>[2],
  credentials?: NewCredentials,
) {
  if ((await saveAccountChange(db, row, changed, clock(), credentials)) === 'changed_meanwhile')
    throw new CannotDo('refused', `Somebody else has changed ${row.account} meanwhile: run this again.`)
}
