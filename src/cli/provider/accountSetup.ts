import { ConfigError } from '../../config.ts'
import type { ProviderAccount, ProviderSettings } from '../../core/provider/provider.ts'
import { listenUrl } from '../../core/networkSettings.ts'
import {
  environmentSettings,
  loadProviders,
  type OpenProviderAccounts,
  openProviderAccounts,
} from '../../runtime/providerAccounts.ts'
import { type OpenedAccount, providerCalled, settingsOfStored } from '../../runtime/providers/accounts.ts'
import type { AccountTools } from '../../runtime/providers/openAccount.ts'
import { webhookIdOf } from '../../runtime/providers/webhookId.ts'
import { providerSettingFaults } from '../../runtime/settingFaults.ts'
import { accountTools } from '../../start/providers.ts'
import type { Db } from '../../store/db.ts'
import type { MasterKeys } from '../../store/merchants/vault.ts'
import { findAccount, type StoredAccount } from '../../store/providers/accounts.ts'
import type { Opened } from '../database.ts'
import { CannotDo } from '../failure.ts'
import { baseUrlOf } from './baseUrl.ts'

type Config = Opened['config']

type Records = { config: Config; clock(): Date; db: Db; masterKeys?: MasterKeys }

// A token that the gateway has would speak well of settings that get none: a command makes its own, each time.
export const checkTools = ({ config, db, clock }: Records): AccountTools => ({
  ...accountTools(config, { db, clock }),
  tokenOf: () => async (make, signal) => (await make(signal)).token,
})

// What it takes to open accounts from a command.
export const accountSetupOf = async (opened: Opened) => ({
  providers: await loadProviders(),
  tools: checkTools(opened),
  masterKeys: opened.masterKeys,
})

export function mustBeProvider(providers: ReadonlyMap<string, unknown>, provider: string) {
  if (!providers.has(provider))
    throw new CannotDo(
      'not_found',
      `There is no provider ${provider}; there are ${[...providers.keys()].join(', ')}.`,
    )
}

// The sandbox belongs to the gateway, which makes its key at each start.
const environmentOf = (config: Config): ProviderSettings => ({
  ...config.providerSettings,
  ...(config.TOLLGATE_SANDBOX && {
    SANDBOX_URL: listenUrl(config.HOST, config.PORT),
    SANDBOX_KEY: 'of the gateway',
  }),
})

// Every account as a gateway with these settings would have it.
export async function openAll(records: Records): Promise<OpenProviderAccounts> {
  const { config, db, masterKeys } = records
  const faults = await providerSettingFaults(config.providerSettings)
  if (faults.length > 0) throw new ConfigError(faults)
  return openProviderAccounts({
    env: environmentOf(config),
    tools: checkTools(records),
    stored: { db, masterKeys },
    isReadOnly: true,
    preferred: config.TOLLGATE_PROVIDERS,
  })
}

// With its kind and what it was opened with.
export async function openOne(opened: Opened, name: string) {
  const providers = await loadProviders()
  const account = (await openAll(opened)).accounts().find(one => one.account === name)
  if (!account) throw noAccount(name)
  const kind = providerCalled({ providers }, account.provider)
  return { account, kind, given: await givenOf(opened, account, kind) }
}

async function givenOf(
  opened: Opened,
  { account, isStored, fault }: OpenedAccount,
  kind: Parameters<typeof environmentSettings>[1],
) {
  if (fault) throw new CannotDo('refused', `${account} cannot be opened: ${fault}`)
  if (!isStored) return environmentSettings(account, kind, environmentOf(opened.config)) ?? {}
  return settingsOfStored(await storedOf(opened.db, account), opened)
}

export async function storedOf(db: Db, name: string): Promise<StoredAccount> {
  const row = await findAccount(db, name)
  if (row) return row
  const isEnvironments = (await loadProviders()).has(name)
  throw isEnvironments
    ? new CannotDo(
        'refused',
        `The settings of ${name} stand in the environment of the gateway: change them there.`,
      )
    : noAccount(name)
}

export const noAccount = (name: string) =>
  new CannotDo('not_found', `No account is called ${name}: tollgate provider list shows them all.`)

// Where the provider of an account callbacks; null where it has no use for an address.
export const webhookAddress = (
  config: Config,
  account: string,
  providerAccount: Pick<ProviderAccount, 'handleWebhook'> | undefined,
): string | null =>
  providerAccount?.handleWebhook ? `${baseUrlOf(config)}/callbacks/account/${webhookIdOf(account)}` : null
