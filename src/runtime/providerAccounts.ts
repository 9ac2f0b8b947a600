import { readdirSync } from 'node:fs'
import {
  type AttemptAccount,
  type BusinessRow,
  isSameAccount,
  type OpenedIdentity,
  openedIdentity,
} from '../core/provider/accountIdentity.ts'
import { egressSettings } from '../core/provider/accountSettings.ts'
import type { Mode } from '../core/mode.ts'
import type { Provider, ProviderSettings } from '../core/provider/provider.ts'
import type { Db } from '../store/db.ts'
import type { MasterKeys } from '../store/merchants/vault.ts'
import { databaseDeadline } from './deadline.ts'
import { environmentAccount, type OpenedAccount, type Opening, webhookIdOf } from './providers/accounts.ts'
import {
  type AvailableMethod,
  createMethodSelection,
  type MethodSubject,
} from './providers/availableMethods.ts'
import { guardAccount, type GuardedAccount } from './providers/guard.ts'
import type { HealthMonitors } from './providers/healthMonitor.ts'
import type { AccountTools } from './providers/openAccount.ts'
import { createStoredAccounts, type OnFault, readBusinesses } from './providers/storedAccounts.ts'

// The accounts at providers by name. An account whose settings are in the environment has the name of its provider.
export type ProviderAccounts = {
  readonly names: readonly string[] // of all open accounts, including disabled ones
  availableMethods(payment: MethodSubject): readonly AvailableMethod[] // cached: equal payments get the same array
  find(name: string): GuardedAccount | undefined
  // The account that an attempt belongs to. Undefined also if the account of this name has another mode or business now.
  findFor(attempt: AttemptAccount): GuardedAccount | undefined
  identityOf(name: string): string | null // for new attempts; null if identities are not stored
  opened(): readonly OpenedIdentity[]
  findByWebhookId(webhook_id: string): { name: string; account: GuardedAccount } | undefined
}

// The accounts of a running gateway, which can be changed by commands and other nodes.
export type OpenProviderAccounts = ProviderAccounts & {
  accounts(): readonly OpenedAccount[]
  refresh(): Promise<void> // opens accounts that have changed
}

export type ProviderAccountsOptions = {
  env: ProviderSettings
  tools: AccountTools
  stored?: { db: Db; masterKeys?: MasterKeys }
  isReadOnly?: boolean // a command, which stores nothing about the accounts that it opens
  preferred?: readonly string[] // accounts and providers that the operator prefers, best first
  monitors?: Pick<HealthMonitors, 'of' | 'account'>
  whyNotCall?(mode: Mode): string | undefined // why no request may reach a provider
  folder?: URL
  onFault?: OnFault
}

const providersFolder = new URL('../providers/', import.meta.url)

// The folder is the registry: every file in it is a provider with the name of the file. A provider without settings has no
// account. A wrong setting in the environment is thrown; a wrong stored setting is a fault of its account only.
export async function openProviderAccounts(options: ProviderAccountsOptions): Promise<OpenProviderAccounts> {
  const { env, tools, stored, preferred = [], monitors, onFault = () => {} } = options
  const guard: Opening['guard'] = (account, providerAccount) =>
    guardAccount(providerAccount, undefined, monitors?.account(account), () =>
      options.whyNotCall?.(providerAccount.mode),
    )
  const providers = await loadProviders(options.folder)
  const opening: Opening = { providers, tools, guard, masterKeys: stored?.masterKeys }
  const ofEnvironment = [...providers].flatMap(([name, provider]) => {
    const values = environmentSettings(name, provider, env)
    return values ? [environmentAccount(name, values, opening)] : []
  })
  const ofDatabase = stored && createStoredAccounts(stored.db, opening, onFault)
  const accounts = () => [...ofEnvironment, ...(ofDatabase?.accounts() ?? [])]
  // Businesses are read after the accounts: new credentials are stored in one commit with their business.
  async function read() {
    const { isReadOnly = false } = options
    const inTime = stored?.db.withDeadline(databaseDeadline())
    const businesses =
      inTime && (await readBusinesses(inTime, accounts(), { isReadOnly, now: tools.clock() }))
    return providerAccountsOf(accounts(), preferred, monitors, businesses)
  }
  await ofDatabase?.refresh()
  let view = await read()
  let isStale = false
  return {
    get names() {
      return view.names
    },
    find: name => view.find(name),
    findFor: attempt => view.findFor(attempt),
    identityOf: name => view.identityOf(name),
    opened: () => view.opened(),
    findByWebhookId: webhook_id => view.findByWebhookId(webhook_id),
    availableMethods: payment => view.availableMethods(payment),
    accounts,
    async refresh() {
      if (await ofDatabase?.refresh()) isStale = true
      if (!isStale) return
      view = await read()
      isStale = false
    },
  }
}

// A fixed set of accounts.
export function providerAccountsOf(
  accounts: readonly OpenedAccount[],
  preferred: readonly string[] = [],
  monitors?: Pick<HealthMonitors, 'of'>,
  businesses: readonly BusinessRow[] = [],
): ProviderAccounts {
  const guardedAccounts = new Map(
    accounts.flatMap(({ account, guarded }) => (guarded ? [[account, guarded]] : [])),
  )
  const webhooks = new Map(
    [...guardedAccounts].map(([name, account]) => [webhookIdOf(name), { name, account }]),
  )
  const opened = new Map(
    accounts.flatMap(({ account, provider, opened: one, credentialsDigest = '' }) =>
      one ? [[account, openedIdentity(account, provider, one, credentialsDigest, businesses)]] : [],
    ),
  )
  return {
    names: [...guardedAccounts.keys()],
    find: name => guardedAccounts.get(name),
    findFor(attempt) {
      const identity = opened.get(attempt.provider_account)
      return identity && isSameAccount(attempt, identity)
        ? guardedAccounts.get(attempt.provider_account)
        : undefined
    },
    identityOf: name => opened.get(name)?.identity ?? null,
    opened: () => [...opened.values()],
    findByWebhookId: webhook_id => webhooks.get(webhook_id),
    availableMethods: createMethodSelection(accounts, preferred, monitors),
  }
}

export async function loadProviders(folder = providersFolder): Promise<Map<string, Provider>> {
  const providers = new Map<string, Provider>()
  for (const file of readdirSync(folder).sort()) {
    const name = /^(\w+)\.[jt]s$/.exec(file)?.[1]
    if (name)
      providers.set(name, ((await import(new URL(file, folder).href)) as { default: Provider }).default)
  }
  return providers
}

// The settings of an account in the environment. Undefined if a required one is missing.
export function environmentSettings(
  name: string,
  { settings }: Provider,
  env: ProviderSettings,
): ProviderSettings | undefined {
  const values = [...settings, ...egressSettings].map(
    one => [one.name, env[`${name}_${one.name}`.toUpperCase()] || one.usual] as const,
  )
  return values.every(([, value]) => value !== undefined) ? Object.fromEntries(values) : undefined
}
