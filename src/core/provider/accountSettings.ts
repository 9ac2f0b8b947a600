import { isAtMost, isPlainText } from '../text.ts'
import type { ProviderSetting } from './provider.ts'

// Settings that every account has beside those of its provider: how its requests leave the machine.
export const egressSettings: readonly ProviderSetting[] = [
  {
    name: 'egress_address',
    words:
      'The address of this machine that requests to the provider are sent from, if it accepts known addresses only.',
    french:
      'L’adresse de cette machine d’où partent les requêtes au prestataire, s’il n’accepte que des adresses connues.',
    usual: '',
  },
  {
    name: 'egress_proxy',
    words: 'A proxy that requests to the provider go through: http://user:password@host:port.',
    french: 'Un proxy par lequel passent les requêtes au prestataire : http://user:password@host:port.',
    isSecret: true,
    usual: '',
  },
]

export type AccountSettings = Readonly<Record<string, string>>
export type SettingChange = readonly [name: string, value: string]

const mostCharacters = 4000

// Returns the new settings and all faults at once, by name and never by value. An empty value resets a setting to its
// default.
export function applySettingChanges(
  known: readonly ProviderSetting[],
  before: AccountSettings,
  changes: readonly SettingChange[],
) {
  const names = known.map(({ name }) => name)
  const values = Object.fromEntries(
    Object.entries({ ...before, ...Object.fromEntries(changes) }).filter(([, value]) => value !== ''),
  )
  const twice = changes.flatMap(([name], at) =>
    changes.findIndex(one => one[0] === name) < at ? [`${name}: is given twice`] : [],
  )
  const unknown = changes.flatMap(([name]) =>
    names.includes(name) ? [] : [`${name}: no such setting; there are ${names.join(', ')}`],
  )
  const malformed = changes.flatMap(([name, value]) => valueFaults(name, value))
  const missing = known.flatMap(({ name, words, usual }) =>
    values[name] === undefined && usual === undefined ? [`${name}: is missing. ${words}`] : [],
  )
  return { values, faults: [...new Set([...unknown, ...twice, ...malformed, ...missing])] }
}

// A key may have several lines.
function valueFaults(name: string, value: string): string[] {
  if (!isAtMost(value, mostCharacters)) return [`${name}: at most ${mostCharacters} characters`]
  return isPlainText(value.replace(/\r?\n/g, '')) ? [] : [`${name}: must not contain control characters`]
}

// A setting that the provider does not list any more may be a secret, so it is treated as one.
export function splitSecrets(known: readonly ProviderSetting[], values: AccountSettings) {
  const isPlain = ([name]: SettingChange) => known.some(one => one.name === name && !one.isSecret)
  const all = Object.entries(values)
  return {
    settings: Object.fromEntries(all.filter(isPlain)),
    secrets: Object.fromEntries(all.filter(one => !isPlain(one))),
  }
}
