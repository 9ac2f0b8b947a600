import { type Config, ConfigError } from '../../config.ts'
import { listenUrl } from '../../core/networkSettings.ts'
import type { ProviderAccount, ProviderSettings } from '../../core/provider/provider.ts'
import {
  environmentSettings,
  loadProviders,
  type OpenProviderAccounts,
  openProviderAccounts,
} from '../../runtime/providerAccounts.ts'
import {
  type OpenedAccount,
  providerCalled,
  settingsOfStored,
  webhookIdOf,
} from '../../runtime/providers/accounts.ts'
import type { AccountTools } from '../../runtime/providers/openAccount.ts'
import { providerSettingFaults } from '../../runtime/settingFaults.ts'
import { uncachedTools } from '../../start/providers.ts'
import type { Db } from '../../store/db.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import { findAccount, type StoredAccount } from '../../store/providers/accounts.ts'
import { baseUrlOf } from '../baseUrl.ts'
import type { CommandContext } from '../database.ts'
import { notFound, refused } from '../failure.ts'

type AccountSource = { config: Config; clock(): Date; db: Db; masterKeys?: MasterKeys }

export const checkTools = ({ config, db, clock }: AccountSource): AccountTools =>
  uncachedTools(config, { db, clock })

export const accountSetup = async (context: CommandContext) => ({
  providers: await loadProviders(),
  tools: checkTools(context),
  masterKeys: context.masterKeys,
})

export function requireProvider(providers: ReadonlyMap<string, unknown>, provider: string) {
  if (!providers.has(provider))
    throw notFound(`There is no provider ${provider}; there are ${[...providers.keys()].join(', ')}.`)
}

// The gateway makes the key of the sandbox at each start, so commands have none.
const environmentOf = (config: Config): ProviderSettings => ({
  ...config.providerSettings,
  ...(config.TOLLGATE_SANDBOX && {
    SANDBOX_URL: listenUrl(config.HOST, config.PORT),
    SANDBOX_KEY: 'of the gateway',
  }),
})

// All accounts, as a gateway with these settings opens them.
export async function openAccounts(source: AccountSource): Promise<OpenProviderAccounts> {
  const { config, db, masterKeys } = source
  const faults = await providerSettingFaults(config.providerSettings)
  if (faults.length > 0) throw new ConfigError(faults)
  return openProviderAccounts({
    env: environmentOf(config),
    tools: checkTools(source),
    stored: { db, masterKeys },
    isReadOnly: true,
    preferred: config.TOLLGATE_PROVIDERS,
  })
}

// An account with its provider and the settings that it was opened with.
export async function requireAccount(context: CommandContext, name: string) {
  const providers = await loadProviders()
  const account = (await openAccounts(context)).accounts().find(one => one.account === name)
  if (!account) throw accountNotFound(name)
  const provider = providerCalled({ providers }, account.provider)
  return { account, provider, settings: await settingsOf(context, account, provider) }
}

async function settingsOf(
  context: CommandContext,
  { account, isStored, fault }: OpenedAccount,
  provider: Parameters<typeof environmentSettings>[1],
) {
  if (fault) throw refused(`${account} cannot be opened: ${fault}`)
  if (!isStored) return environmentSettings(account, provider, environmentOf(context.config)) ?? {}
  return settingsOfStored(await requireStoredAccount(context.db, account), context)
}

export async function requireStoredAccount(db: Db, name: string): Promise<StoredAccount> {
  const row = await findAccount(db, name)
  if (row) return row
  throw (await loadProviders()).has(name)
    ? refused(`The settings of ${name} are in the environment of the gateway: change them there.`)
    : accountNotFound(name)
}

const accountNotFound = (name: string) =>
  notFound(`No account is called ${name}: tollgate provider list shows all.`)

// Where the provider of an account sends its webhooks. Null if the provider sends none.
export const webhookAddress = (
  config: Config,
  account: string,
  providerAccount: Pick<ProviderAccount, 'handleWebhook'> | undefined,
): string | null =>
  providerAccount?.handleWebhook ? `${baseUrlOf(config)}/callbacks/account/${webhookIdOf(account)}` : null
