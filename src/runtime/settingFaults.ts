import { readdirSync } from 'node:fs'
import { egressSettings } from '../core/provider/accountSettings.ts'
import type { Provider, ProviderSettings } from '../core/provider/provider.ts'
import type { MessengerModule, MessengerSettings } from '../core/message/messenger.ts'
import { type AccountFault, type AccountTools, openAccount } from './providers/openAccount.ts'
import { loadProviders, environmentSettings } from './providerAccounts.ts'

const messengers = new URL('../messengers/', import.meta.url)

// Faults in the settings of providers in the environment. Opening a provider makes no connection.
export async function providerSettingFaults(settings: ProviderSettings, folder?: URL): Promise<string[]> {
  const faults: string[] = []
  for (const [name, provider] of await loadProviders(folder)) {
    const complete = environmentSettings(name, provider, settings)
    faults.push(
      ...(complete ? openingFaults(name, provider, complete) : missingSettings(name, provider, settings)),
    )
  }
  return faults
}

const inEnvironment = (provider: string, setting: string) => `${provider}_${setting}`.toUpperCase()

function openingFaults(name: string, provider: Provider, settings: ProviderSettings): string[] {
  try {
    openAccount(name, provider, settings, noTools)
    return []
  } catch (error) {
    const names = [...provider.settings, ...egressSettings].map(one => one.name)
    const known = new RegExp(`^(${names.join('|')})(?=:)`)
    return (error as AccountFault).faults.map(words =>
      words.replace(known, setting => inEnvironment(name, setting)),
    )
  }
}

// If some required settings of a provider are set, all of them must be.
function missingSettings(name: string, { settings }: Provider, env: ProviderSettings): string[] {
  const needed = settings.filter(one => one.usual === undefined)
  const missing = needed.filter(one => !env[inEnvironment(name, one.name)])
  if (missing.length === needed.length) return []
  return missing.map(one => `${inEnvironment(name, one.name)}: is missing. ${one.words}`)
}

const noTools: AccountTools = {
  egress: {},
  clock: () => new Date(),
  tokenOf: () => () => Promise.reject(new Error('no token')),
}

// Faults in the settings of messengers, and warnings about valid settings. No connection is made.
export async function messengerFaults(settings: MessengerSettings, folder = messengers) {
  const [faults, warnings]: [string[], string[]] = [[], []]
  const tools = { warn: (words: string) => void warnings.push(words), receive: () => {} }
  for (const { default: module } of await filesIn<{ default: MessengerModule }>(folder))
    faults.push(...faultsOf(() => module.readSettings(settings, tools)))
  return { faults, warnings }
}

function faultsOf(read: () => unknown): string[] {
  try {
    read()
    return []
  } catch (error) {
    return faultsIn(error)
  }
}

export const faultsIn = (error: unknown): string[] =>
  error instanceof AggregateError
    ? error.errors.flatMap(faultsIn)
    : [error instanceof Error ? error.message : String(error)]

const filesIn = <File>(folder: URL): Promise<File[]> =>
  Promise.all(
    readdirSync(folder)
      .filter(file => /^\w+\.[jt]s$/.test(file))
      .sort()
      .map(file => import(new URL(file, folder).href) as Promise<File>),
  )
