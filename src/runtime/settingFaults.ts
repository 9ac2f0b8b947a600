import { readdirSync } from 'node:fs'
import { egressSettings } from '../core/provider/accountSettings.ts'
import type { Provider, ProviderSettings } from '../core/provider/provider.ts'
import type { MessengerSettings, ReadMessengerSettings } from '../core/message/messenger.ts'
import { type AccountFault, type AccountTools, openAccount } from './providers/openAccount.ts'
import { loadProviders, environmentSettings } from './providerAccounts.ts'

const messengers = new URL('../messengers/', import.meta.url)

// What is wrong with the settings that providers read. A provider speaks only when it is used: opening one connects nothing.
export async function providerSettingFaults(settings: ProviderSettings, folder?: URL): Promise<string[]> {
  const faults: string[] = []
  for (const [name, kind] of await loadProviders(folder)) {
    const given = environmentSettings(name, kind, settings)
    const wrong = given ? openingFaults(name, kind, given) : missingBeside(name, kind, settings)
    faults.push(...wrong)
  }
  return faults
}

const inEnvironment = (provider: string, setting: string) => `${provider}_${setting}`.toUpperCase()

function openingFaults(name: string, kind: Provider, given: ProviderSettings): string[] {
  try {
    openAccount(name, kind, given, idle)
    return []
  } catch (error) {
    const names = [...kind.settings, ...egressSettings].map(one => one.name)
    const known = new RegExp(`^(${names.join('|')})(?=:)`)
    return (error as AccountFault).faults.map(words =>
      words.replace(known, word => inEnvironment(name, word)),
    )
  }
}

// Who has set some of them meant to set all.
function missingBeside(name: string, { settings }: Provider, env: ProviderSettings): string[] {
  const needed = settings.filter(one => one.usual === undefined)
  const missing = needed.filter(one => !env[inEnvironment(name, one.name)])
  if (missing.length === needed.length) return []
  return missing.map(one => `${inEnvironment(name, one.name)}: is missing. ${one.words}`)
}

const idle: AccountTools = {
  egress: {},
  clock: () => new Date(),
  tokenOf: () => () => Promise.reject(new Error('idle')),
}

// The same of messengers, and what an operator should hear about settings that are right. Nothing is connected.
export async function messengerFaults(settings: MessengerSettings, folder = messengers) {
  const [faults, warnings]: [string[], string[]] = [[], []]
  const tools = { warn: (words: string) => void warnings.push(words), receive: () => {} }
  for (const { readSettings } of await filesIn<{ readSettings?: ReadMessengerSettings }>(folder))
    faults.push(...faultsOf(() => readSettings?.(settings, tools)))
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
