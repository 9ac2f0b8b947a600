import { auditedDb } from '../../actions/access/audit.ts'
import { addAccount, newIdentity, prepareAccount } from '../../actions/providers/addAccount.ts'
import { checkAccount } from '../../actions/providers/checkAccount.ts'
import type { Mode } from '../../core/mode.ts'
import { insecureAddressAdvice } from '../baseUrl.ts'
import { type CommandContext, requireMerchant } from '../database.ts'
import { refused } from '../failure.ts'
import type { CliCommand } from '../cliCommand.ts'
import type { Output } from '../output.ts'
import { facts, paint, paragraphs } from '../terminal.ts'
import { modeOption, readName } from '../values.ts'
import { accountSetup, requireProvider, webhookAddress } from './accountSetup.ts'
import {
  checkResultFact,
  requireNotRejected,
  secretsInArguments,
  secretsInArgumentsWarning,
} from './accountText.ts'
import { readChanges } from './secretInput.ts'

type Options = { mode: Mode; merchant?: string; label?: string; test: boolean }

export function addProviderAdd(command: CliCommand) {
  command
    .command('add <provider> [name=value...]')
    .description(
      'Store a provider account. The provider is asked first whether the settings are good, which charges nobody. ' +
        'NAME=- asks for a secret, or reads it from standard input; NAME=@FILE reads it from a file.',
    )
    .addOption(
      modeOption('which payments it takes; the settings have to be of this mode').makeOptionMandatory(),
    )
    .option('--merchant <id>', 'the merchant that owns it; without it the operator’s, for every merchant')
    .option('--label <text>', 'a name for people', readName)
    .option('--no-test', 'do not ask the provider whether the settings are good')
    .examples(
      'tollgate provider add paystack secret_key=- --mode live',
      "tollgate provider add mtn subscription_key=@key.txt api_user=- api_key=- --mode live --label 'MTN head office'",
      'tollgate provider add paystack secret_key=@/run/secrets/paystack --mode test --merchant 7c2k9m0x4f',
    )
    .runWithMasterKeys(add)
}

async function add(
  context: CommandContext,
  provider: string,
  args: string[],
  options: Options,
): Promise<Output> {
  const { db, config, clock } = context
  const { mode, label = null } = options
  const setup = await accountSetup(context)
  requireProvider(setup.providers, provider)
  const merchant = options.merchant === undefined ? undefined : await requireMerchant(db, options.merchant)
  const merchant_id = merchant?.merchant_id ?? null
  const identity = newIdentity({ provider, mode, merchant_id })
  const prepared = prepareAccount(setup, identity, {}, await readChanges(args))
  if (prepared.faults) throw refused('Nothing was stored.', { faults: [...prepared.faults] })
  const { kind, values, opened: account } = prepared
  const check = options.test ? await checkAccount(kind, values, account) : undefined
  requireNotRejected(check)
  const now = clock()
  const entry = {
    merchant_id,
    action: 'account.add',
    subject: identity.account,
    before: null,
    after: { provider, mode, label, settings: Object.keys(values) },
  }
  const alert = { change: 'payout', by: context.actor.id } as const
  const recorded = auditedDb(db, context.actor, now, () => entry, alert)
  await addAccount(recorded, identity, prepared, label, now)
  const payment_methods = account.methods.map(({ payment_method }) => payment_method)
  const webhook = webhookAddress(config, identity.account, account)
  const shown = secretsInArguments(kind, args)
  const advice = insecureAddressAdvice(config, mode)
  return {
    data: {
      ...identity,
      label,
      methods: payment_methods,
      webhook,
      check: check ?? null,
      shown_secrets: shown,
      ...(advice && { advice }),
    },
    text: paragraphs(
      `${identity.account} is added. It takes ${mode} payments of ${merchant?.name ?? 'every merchant'} within a second.`,
      facts([
        ['account', identity.account],
        ['payment methods', payment_methods.join(', ')],
        ['webhook', webhook],
        checkResultFact(check),
      ]),
      advice && paint('yellow', advice),
      secretsInArgumentsWarning(shown),
    ),
  }
}
