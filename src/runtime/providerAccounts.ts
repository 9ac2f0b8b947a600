import { readdirSync } from 'node:fs'
import {
  type AttemptAccount,
  type BusinessRow,
  isSameAccount,
  type OpenedIdentity,
  openedIdentity,
} from '../core/provider/accountIdentity.ts'
import { egressSettings } from '../core/provider/accountSettings.ts'
import type { ProviderAccount, Provider, ProviderSettings } from '../core/provider/provider.ts'
import type { Db } from '../store/db.ts'
import type { MasterKeys } from '../store/merchants/vault.ts'
import { type OpenedAccount, accountOf, environmentAccount, type Opening } from './providers/accounts.ts'
import { readBusinesses } from './providers/businesses.ts'
import { type GuardedAccount, guardAccount } from './providers/guard.ts'
import { type HealthReader, type HealthMonitors, noHealthMonitor } from './providers/healthMonitor.ts'
import {
  createMethodSelection,
  type AvailableMethod,
  type MethodSubject,
} from './providers/availableMethods.ts'
import type { AccountTools } from './providers/openAccount.ts'
import { createStoredAccounts, type OnFault } from './providers/storedAccounts.ts'
import { webhookIdOf } from './providers/webhookId.ts'
import type { Timer } from './deadline.ts'
import { databaseDeadline } from './deadline.ts'

// Accounts at providers by their names. One whose settings stand in the environment is called as its provider is.
export type ProviderAccounts = {
  readonly names: readonly string[] // of all that can be asked, those that are disabled among them
  availableMethods(payment: MethodSubject): readonly AvailableMethod[] // the very same each time: nobody changes them
  find(name: string): GuardedAccount | undefined
  // The account that an attempt belongs to; undefined also where its name has another mode or business behind it now.
  findFor(attempt: AttemptAccount): GuardedAccount | undefined
  identityOf(name: string): string | null // for new attempts; null where identities are not kept
  opened(): readonly OpenedIdentity[]
  findByWebhookId(webhook_id: string): { name: string; account: GuardedAccount } | undefined
}

// Those of a gateway, which hear of changes.
export type OpenProviderAccounts = ProviderAccounts & {
  accounts(): readonly OpenedAccount[]
  refresh(): Promise<void> // whether any account has changed; those that have are opened anew
}

export type ProviderAccountsOptions = {
  env: ProviderSettings
  tools: AccountTools
  stored?: { db: Db; masterKeys?: MasterKeys }
  isReadOnly?: boolean // a command: it stores nothing about accounts that it opens
  preferred?: readonly string[] // accounts and providers, as the operator would have them
  monitors?: Pick<HealthMonitors, 'of' | 'monitorFor'> // who stands before each account, and says how it does
  folder?: URL
  onFault?: OnFault
}

const ourFolder = new URL('../providers/', import.meta.url)
const noKeepers: Pick<HealthMonitors, 'of' | 'monitorFor'> = {
  of: () => 'healthy',
  monitorFor: () => noHealthMonitor,
}

// The folder is the registry: every file in it is a provider, named as the file is. What has no settings is not offered.
// A wrong setting in the environment is thrown; one that is stored is its account's fault alone.
export async function openProviderAccounts(options: ProviderAccountsOptions): Promise<OpenProviderAccounts> {
  const { env, tools, stored, preferred = [], monitors = noKeepers, onFault = () => {} } = options
  const guard: Opening['guard'] = (account, providerAccount) =>
    guardAccount(providerAccount, undefined, monitors.monitorFor(account, providerAccount))
  const providers = await loadProviders(options.folder)
  const opening: Opening = { providers, tools, guard, masterKeys: stored?.masterKeys }
  const ofEnvironment = [...providers].flatMap(([name, kind]) => {
    const given = environmentSettings(name, kind, env)
    return given ? [environmentAccount(name, given, opening)] : []
  })
  const ofDatabase = stored && createStoredAccounts(stored.db, opening, onFault)
  const accounts = () => [...ofEnvironment, ...(ofDatabase?.accounts() ?? [])]
  // The businesses are read after the accounts: whoever stores new credentials stores their business in the same commit.
  async function read() {
    const { isReadOnly = false } = options
    const inTime = stored?.db.withDeadline(databaseDeadline())
    const businesses =
      inTime && (await readBusinesses(inTime, accounts(), { isReadOnly, now: tools.clock() }))
    return viewOf(accounts(), preferred, monitors, businesses)
  }
  await ofDatabase?.look()
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
      if (await ofDatabase?.look()) isStale = true
      if (!isStale) return
      view = await read()
      isStale = false
    },
  }
}

// These and no others, for as long as they last.
export function providerAccountsOf(
  providers: ReadonlyMap<string, ProviderAccount>,
  timer?: Timer,
  monitors: Pick<HealthMonitors, 'of' | 'monitorFor'> = noKeepers,
): ProviderAccounts {
  const accounts = [...providers].map(([name, providerAccount]) =>
    accountOf(
      name,
      providerAccount,
      guardAccount(providerAccount, timer, monitors.monitorFor(name, providerAccount)),
    ),
  )
  return viewOf(accounts, [], monitors)
}

function viewOf(
  accounts: readonly OpenedAccount[],
  preferred: readonly string[],
  health: HealthReader,
  businesses: readonly BusinessRow[] = [],
): ProviderAccounts {
  const guardedAccounts = new Map(
    accounts.flatMap(({ account, guarded: line }) => (line ? [[account, line]] : [])),
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
    availableMethods: createMethodSelection(accounts, preferred, health),
  }
}

export async function loadProviders(folder = ourFolder): Promise<Map<string, Provider>> {
  const providers = new Map<string, Provider>()
  for (const file of readdirSync(folder).sort()) {
    const name = /^(\w+)\.[jt]s$/.exec(file)?.[1]
    if (name)
      providers.set(name, ((await import(new URL(file, folder).href)) as { default: Provider }).default)
  }
  return providers
}

// As they stand in the environment; undefined where one is missing.
export function environmentSettings(
  name: string,
  { settings }: Provider,
  env: ProviderSettings,
): ProviderSettings | undefined {
  const given = [...settings, ...egressSettings].map(
    one => [one.name, env[`${name}_${one.name}`.toUpperCase()] || one.usual] as const,
  )
  return given.every(([, value]) => value !== undefined) ? Object.fromEntries(given) : undefined
}
