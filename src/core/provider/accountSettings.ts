import { isAtMost, isPlainText } from '../text.ts'
import type { ProviderSetting } from './provider.ts'

// What every account can be told beside what its provider wants to know: its way out of the house.
export const egressSettings: readonly ProviderSetting[] = [
  {
    name: 'egress_address',
    words:
      'The address of this machine that requests to the provider are sent from, where it lets in known ones.',
    usual: '',
  },
  {
    name: 'egress_proxy',
    words: 'A proxy that requests to the provider go through: http://user:password@host:port.',
    isSecret: true,
    usual: '',
  },
]

export type AccountSettings = Readonly<Record<string, string>>
export type SettingChange = readonly [name: string, value: string]

const mostCharacters = 4000

// Gives back what holds then, and every fault at once, by name and never by value. An empty value goes back to the usual
// one.
export function applySettingChanges(
  known: readonly ProviderSetting[],
  before: AccountSettings,
  changes: readonly SettingChange[],
) {
  const names = known.map(({ name }) => name)
  const given = Object.fromEntries(
    Object.entries({ ...before, ...Object.fromEntries(changes) }).filter(([, value]) => value !== ''),
  )
  const twice = changes.flatMap(([name], at) =>
    changes.findIndex(one => one[0] === name) < at ? [`${name}: is given twice`] : [],
  )
  const unknown = changes.flatMap(([name]) =>
    names.includes(name) ? [] : [`${name}: no such setting; there are ${names.join(', ')}`],
  )
  const odd = changes.flatMap(([name, value]) => unknownCodes(name, value))
  const missing = known.flatMap(({ name, words, usual }) =>
    given[name] === undefined && usual === undefined ? [`${name}: is missing. ${words}`] : [],
  )
  return { given, faults: [...new Set([...unknown, ...twice, ...odd, ...missing])] }
}

// A key may be a text of several lines, in a file.
function unknownCodes(name: string, value: string): string[] {
  if (!isAtMost(value, mostCharacters)) return [`${name}: at most ${mostCharacters} characters`]
  return isPlainText(value.replace(/\r?\n/g, '')) ? [] : [`${name}: must not contain control characters`]
}

// Apart what is a secret. What a provider does not know any more may be one.
export function splitSecrets(known: readonly ProviderSetting[], given: AccountSettings) {
  const isPlain = ([name]: SettingChange) => known.some(one => one.name === name && !one.isSecret)
  const all = Object.entries(given)
  return {
    settings: Object.fromEntries(all.filter(isPlain)),
    secrets: Object.fromEntries(all.filter(one => !isPlain(one))),
  }
}
