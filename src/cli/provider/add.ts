import type { Command } from 'commander'
import { addAccount, newIdentity, prepareAccount } from '../../actions/providers/addAccount.ts'
import { checkAccount } from '../../actions/providers/checkAccount.ts'
import type { Mode } from '../../core/mode.ts'
import { merchantOf, type Opened, withMasterKeys } from '../database.ts'
import { CannotDo } from '../failure.ts'
import { examples } from '../help.ts'
import type { Cli, Output } from '../output.ts'
import { facts, paint } from '../terminal.ts'
import { modeOption, readName } from '../values.ts'
import { accountSetupOf, mustBeProvider, webhookAddress } from './accountSetup.ts'
import { insecureAddressAdvice } from './baseUrl.ts'
import { checkFact, mustNotBeBad, shownSecrets, shownSecretsWords } from './checkText.ts'
import { readChanges } from './secretInput.ts'

type Asked = { mode: Mode; merchant?: string; label?: string; test: boolean }

export function addProviderAdd(command: Command, cli: Cli) {
  command
    .command('add <provider> [name=value...]')
    .description(
      'Store an account at a provider. It is asked first whether the settings are good, without charging anybody. ' +
        'NAME=- asks for a secret, or reads it from standard input; NAME=@FILE reads it from a file.',
    )
    .addOption(modeOption('which payments it takes; the settings have to agree').makeOptionMandatory())
    .option('--merchant <id>', 'whose account it is; without it the operator’s, for every merchant')
    .option('--label <text>', 'what people call it', readName)
    .option('--no-test', 'do not ask the provider')
    .addHelpText(
      'after',
      examples(
        'tollgate provider add paystack secret_key=- --mode live',
        "tollgate provider add mtn subscription_key=@key.txt api_user=- api_key=- --mode live --label 'MTN head office'",
        'tollgate provider add paystack secret_key=@/run/secrets/paystack --mode test --merchant 7c2k9m0x4f',
      ),
    )
    .action(async (name: string, words: string[], asked: Asked) =>
      cli.print(await withMasterKeys(opened => add(opened, name, words, asked))),
    )
}

async function add(opened: Opened, provider: string, words: string[], asked: Asked): Promise<Output> {
  const { db, config, clock } = opened
  const desk = await accountSetupOf(opened)
  mustBeProvider(desk.providers, provider)
  const merchant = asked.merchant === undefined ? undefined : await merchantOf(db, asked.merchant)
  const merchant_id = merchant?.merchant_id ?? null
  const identity = newIdentity({ provider, mode: asked.mode, merchant_id })
  const prepared = prepareAccount(desk, identity, {}, await readChanges(words))
  if (prepared.faults) throw new CannotDo('refused', 'Nothing was stored.', { faults: [...prepared.faults] })
  const { kind, given, opened: account } = prepared
  const checked = asked.test ? await checkAccount(kind, given, account) : undefined
  mustNotBeBad(checked)
  const label = asked.label ?? null
  await addAccount(db, identity, prepared, label, clock())
  const payment_methods = account.methods.map(({ payment_method }) => payment_method)
  const webhook = webhookAddress(config, identity.account, account)
  const shown = shownSecrets(kind, words)
  const advice = insecureAddressAdvice(config, asked.mode)
  return {
    data: {
      ...identity,
      label,
      methods: payment_methods,
      webhook,
      check: checked ?? null,
      shown_secrets: shown,
      ...(advice && { advice }),
    },
    text: [
      `${identity.account} is added. It takes ${asked.mode} payments of ${merchant?.name ?? 'every merchant'} within a second.`,
      facts([
        ['account', identity.account],
        ['payment methods', payment_methods.join(', ')],
        ...(webhook ? [['webhook', webhook] as const] : []),
        checkFact(checked),
      ]),
      ...(advice ? [paint('yellow', advice)] : []),
      ...shownSecretsWords(shown).map(sentence => paint('yellow', sentence)),
    ].join('\n\n'),
  }
}
