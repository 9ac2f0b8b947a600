import { createInterface } from 'node:readline'
import { Option } from 'commander'
import { checkAccount } from '../../actions/providers/checkAccount.ts'
import {
  attemptsInQuestion,
  type NewCredentials,
  prepareChange,
  changeAccount,
} from '../../actions/providers/setAccount.ts'
import type { StoredAccount } from '../../store/providers/accounts.ts'
import type { CommandContext } from '../database.ts'
import { refused } from '../failure.ts'
import type { CliCommand } from '../cliCommand.ts'
import type { Output } from '../output.ts'
import { facts, paint, paragraphs } from '../terminal.ts'
import { readName } from '../values.ts'
import { accountSetup, requireProvider, requireStoredAccount } from './accountSetup.ts'
import {
  checkResultFact,
  openAttemptsText,
  requireNotRejected,
  secretsInArguments,
  secretsInArgumentsWarning,
} from './accountText.ts'
import { type Input, readChanges } from './secretInput.ts'

type Options = { label?: string; test: boolean; sameBusiness?: true; otherBusiness?: true }

export function addProviderSet(command: CliCommand) {
  command
    .command('set <account> [name=value...]')
    .description(
      'Change settings of a provider account: all of them, or none if one is wrong. An empty value restores the default. ' +
        'If the credentials change, it asks whether they belong to the same business at the provider: only then open ' +
        'attempts continue with them.',
    )
    .option('--label <text>', 'a name for people', readName)
    .addOption(
      new Option(
        '--same-business',
        'the new credentials belong to the same business: open attempts continue',
      ).conflicts('otherBusiness'),
    )
    .option('--other-business', 'the new credentials belong to another business: open attempts wait')
    .option('--no-test', 'do not ask the provider whether the settings are good')
    .examples(
      'tollgate provider set paystack-4f7k2q secret_key=-',
      'tollgate provider set paystack-4f7k2q secret_key=@key.txt --same-business',
      'tollgate provider set mtn-9d3m0x egress_address=203.0.113.7',
      'tollgate provider set mtn-9d3m0x egress_address=  # back to the default',
      "tollgate provider set mtn-9d3m0x --label 'MTN head office'",
    )
    .runWithMasterKeys(set)
}

async function set(context: CommandContext, name: string, args: string[], options: Options): Promise<Output> {
  if (args.length === 0 && options.label === undefined)
    throw refused('Say what to change: NAME=VALUE or --label.')
  const row = await requireStoredAccount(context.db, name)
  const { label = row.label } = options
  if (args.length === 0) {
    await saveOrRefuse(context, row, { label })
    return { data: { account: name, label }, text: `${name} is called ${label} now.` }
  }
  const setup = await accountSetup(context)
  requireProvider(setup.providers, row.provider)
  const prepared = prepareChange(setup, row, await readChanges(args))
  if (prepared.faults) throw refused('Nothing was changed.', { faults: [...prepared.faults] })
  const { kind, values, opened: account, stored } = prepared
  const check = options.test ? await checkAccount(kind, values, account) : undefined
  requireNotRejected(check)
  const openAttempts = await attemptsInQuestion(context.db, prepared)
  const business = openAttempts === undefined ? undefined : await businessOf(options, name, openAttempts)
  // Credentials that the account had before stay with their business, unless the operator confirms that it is the same.
  const isSameBusiness = options.sameBusiness === true || business === 'same'
  await saveOrRefuse(context, row, { ...stored, label }, { ...prepared, isSameBusiness })
  const shown = secretsInArguments(kind, args)
  return {
    data: {
      account: name,
      label,
      check: check ?? null,
      business: business ?? null,
      open_attempts: openAttempts ?? null,
      shown_secrets: shown,
    },
    text: paragraphs(
      `${name} is changed; every node uses it within a second.`,
      facts([checkResultFact(check)]),
      business &&
        paint(business === 'same' ? 'green' : 'yellow', businessText(name, openAttempts ?? 0, business)),
      secretsInArgumentsWarning(shown),
    ),
  }
}

export async function saveOrRefuse(
  { db, clock, actor }: CommandContext,
  row: StoredAccount,
  changed: Parameters<typeof changeAccount>[3],
  credentials?: NewCredentials,
) {
  const changer = { actor, by: actor.id }
  if ((await changeAccount(db, changer, row, changed, clock(), credentials)) === 'changed_meanwhile')
    throw refused(`${row.account} was changed by another command meanwhile: run this again.`)
}

type Business = 'same' | 'other' | 'not_said'

const businessOf = ({ sameBusiness, otherBusiness }: Options, name: string, attempts: number) =>
  sameBusiness ? ('same' as const) : otherBusiness ? ('other' as const) : askSameBusiness(name, attempts)

// Asks on a terminal only. A script uses the options.
async function askSameBusiness(
  account: string,
  attempts: number,
  input: Input = process.stdin,
): Promise<Business> {
  if (!input.isTTY) return 'not_said'
  process.stderr.write(
    `These credentials differ from those that ${account} has now. If they belong to the same business at the provider, ` +
      `${attempts === 0 ? 'older attempts' : `its ${openAttemptsText(attempts)}`} continue with them. ` +
      'If they do not, a customer could be charged twice, so those attempts have to wait.\n',
  )
  const lines = createInterface({ input, output: process.stderr, terminal: true })
  try {
    const answer = await new Promise<string>((resolve, reject) => {
      lines.once('SIGINT', () => reject(refused('Nothing was changed.')))
      lines.once('close', () => resolve(''))
      lines.question('Same business? [y/N] ', resolve)
    })
    return /^y(es)?$/i.test(answer.trim()) ? 'same' : 'other'
  } finally {
    lines.close()
  }
}

function businessText(account: string, attempts: number, business: Business): string {
  const those = (one: string, several: string) =>
    attempts === 0 ? 'no attempt is open' : `${openAttemptsText(attempts)} ${attempts === 1 ? one : several}`
  if (business === 'same')
    return `The credentials belong to the same business: ${those('continues', 'continue')}.`
  const next = `${those('waits', 'wait')}. If it is the same business after all: tollgate provider confirm ${account}.`
  return business === 'other'
    ? `The credentials belong to another business: ${next}`
    : `Neither --same-business nor --other-business was given, so the credentials count as another business: ${next}`
}
