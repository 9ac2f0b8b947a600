import { auditedDb } from '../../actions/access/audit.ts'
import { checkAccount } from '../../actions/providers/checkAccount.ts'
import {
  type Confirmed,
  confirmBusiness,
  type OtherBusiness,
} from '../../actions/providers/confirmBusiness.ts'
import { type WaitingAttempts, waitingAttempts } from '../../actions/providers/waitingAttempts.ts'
import { identityScope } from '../../core/provider/accountIdentity.ts'
import type { OpenedAccount } from '../../runtime/providers/accounts.ts'
import { type CommandContext, requireMerchant } from '../database.ts'
import { CommandError, refused } from '../failure.ts'
import type { CliCommand } from '../cliCommand.ts'
import type { Output } from '../output.ts'
import { dateTime, type Fact, facts, heading, paint } from '../terminal.ts'
import { openAccounts, requireAccount, requireStoredAccount, webhookAddress } from './accountSetup.ts'
import { checkResultText, openAttemptsText, waitingText } from './accountText.ts'
import { addProviderAdd } from './add.ts'
import { addProviderSet, saveOrRefuse } from './set.ts'
import { addProviderStatus } from './status.ts'

export function addProviderCommands(program: CliCommand) {
  const command = program
    .command('provider')
    .description('Provider accounts: add, change, test and list them.')
    .examples(
      'tollgate provider add paystack secret_key=- --mode live',
      'tollgate provider list',
      'tollgate provider status',
    )
  addProviderAdd(command)
  addProviderSet(command)
  command
    .command('confirm <account>')
    .description(
      'Confirm that the credentials of an account belong to the same business at the provider as before, so that its ' +
        'open attempts continue. Run it with the settings of the gateway. Never confirm another business: it does not ' +
        'have those orders, and customers could be charged twice.',
    )
    .option('--business <id>', 'which business, if there are several')
    .examples('tollgate provider confirm paystack')
    .runWithMasterKeys(confirm)
  command
    .command('test <account>')
    .description('Ask the provider whether the settings of an account are good. Charges nobody.')
    .examples('tollgate provider test mtn', 'tollgate provider test paystack-4f7k2q')
    .runWithMasterKeys(testSettings)
  command
    .command('list')
    .description('List all provider accounts, including those of the environment. Secrets are never shown.')
    .option('--merchant <id>', 'only the accounts of this merchant')
    .examples('tollgate provider list', 'tollgate provider list --merchant 7c2k9m0x4f --json')
    .runWithDatabase(list)
  command
    .command('disable <account>')
    .description('Start no new payments at an account. Its open attempts are polled until they end.')
    .examples('tollgate provider disable mtn-9d3m0x')
    .runWithDatabase((context, name: string) => setEnabled(context, name, false))
  command
    .command('enable <account>')
    .description('Use a disabled account for new payments again.')
    .examples('tollgate provider enable mtn-9d3m0x')
    .runWithDatabase((context, name: string) => setEnabled(context, name, true))
  addProviderStatus(command)
}

async function confirm(
  context: CommandContext,
  name: string,
  { business }: { business?: string },
): Promise<Output> {
  const { account } = await requireAccount(context, name)
  const { opened, credentialsDigest, provider } = account
  if (!opened || !credentialsDigest) throw refused(`${name} cannot be opened.`)
  const credentials = { account: name, credentialsDigest, scope: identityScope(provider, opened) }
  const now = context.clock()
  const recorded = auditedDb(context.db, context.actor, now, ({ done }: Confirmed) =>
    done === 'confirmed' ? confirmedEntry(name) : undefined,
  )
  const result = await confirmBusiness(recorded, credentials, now, business)
  if (result.done === 'several') throw severalBusinesses(name, result.businesses)
  if (result.done === 'nothing')
    return {
      data: { account: name, attempts: 0 },
      text: `Nothing to confirm: all attempts of ${name} belong to one business.`,
    }
  const { attempts } = result
  const continues =
    attempts === 0
      ? 'No attempt is open.'
      : `${openAttemptsText(attempts)} ${attempts === 1 ? 'continues' : 'continue'} within a second.`
  return {
    data: { account: name, attempts },
    text: `${name} has credentials of the same business as before. ${continues}`,
  }
}

const confirmedEntry = (subject: string) => ({
  merchant_id: null,
  action: 'account.change',
  subject,
  before: null,
  after: { business: 'same as before' },
})

const severalBusinesses = (name: string, businesses: readonly OtherBusiness[]) =>
  new CommandError(
    'ambiguous',
    `${name} has had several businesses: give --business with one of ${businesses
      .map(({ business, attempts }) => `${business} (${openAttemptsText(attempts)})`)
      .join(', ')}.`,
    { data: { businesses } },
  )

async function testSettings(context: CommandContext, name: string): Promise<Output> {
  const { account, provider, settings } = await requireAccount(context, name)
  const check = await checkAccount(provider, settings, account.opened ?? {})
  const text = `${name}: ${checkResultText(check)}`
  const data = { account: name, mode: account.mode, check }
  if (check.outcome === 'bad' || check.outcome === 'no_answer') throw refused(text, { data })
  return { data, text }
}

async function list(context: CommandContext, { merchant }: { merchant?: string }): Promise<Output> {
  if (merchant !== undefined) await requireMerchant(context.db, merchant)
  const providerAccounts = await openAccounts(context)
  const waiting = await waitingAttempts(context.db, providerAccounts)
  const accounts = providerAccounts
    .accounts()
    .filter(one => merchant === undefined || one.merchant_id === merchant)
    .map(account => accountData(context, account, waiting))
  const none = 'There are no accounts: tollgate provider add PROVIDER adds one.'
  return { data: { accounts }, text: accounts.length > 0 ? accounts.map(accountText).join('\n\n') : none }
}

const accountData = (
  { config }: CommandContext,
  one: OpenedAccount,
  waiting: readonly WaitingAttempts[],
) => ({
  account: one.account,
  provider: one.provider,
  mode: one.mode,
  merchant_id: one.merchant_id,
  label: one.label,
  stored: one.isStored,
  methods: one.methods.map(({ payment_method }) => payment_method),
  disabled_at: one.disabled_at,
  fault: one.fault ?? null,
  webhook: webhookAddress(config, one.account, one.opened),
  waiting: waiting.filter(({ account }) => account === one.account),
})

type AccountData = ReturnType<typeof accountData>

const accountText = (one: AccountData) =>
  `${heading(one.account)}${one.label ? `  ${one.label}` : ''}\n${facts([
    ['provider', `${one.provider}, ${one.mode}`],
    ['for', one.merchant_id ? `merchant ${one.merchant_id}` : 'every merchant'],
    ['set by', one.stored ? 'command' : 'the environment'],
    ['payment methods', one.methods.join(', ') || 'unknown'],
    ['webhook', one.webhook],
    ['disabled', one.disabled_at && `since ${dateTime(one.disabled_at)}`],
    ['fault', one.fault && paint('red', one.fault)],
    ...one.waiting.map((attempts): Fact => ['waiting', paint('yellow', waitingText(attempts))]),
  ])}`

async function setEnabled(context: CommandContext, name: string, enabled: boolean): Promise<Output> {
  const row = await requireStoredAccount(context.db, name)
  const { provider, mode, merchant_id } = row
  const disabled_at = enabled ? null : (row.disabled_at ?? context.clock())
  await saveOrRefuse(context, row, { disabled_at })
  const fallback = merchant_id
    ? ` New payments of merchant ${merchant_id} then go to the operator's accounts that serve the same payment method.`
    : ''
  return {
    data: { account: name, provider, mode, merchant_id, disabled_at },
    text: enabled
      ? `${name} takes new payments again within a second.`
      : `${name} takes no new payments within a second; its open attempts are polled until they end.${fallback}`,
  }
}
