import { isAtMost, isPlainText } from '../text.ts'
import type { ChannelSetting } from './channel.ts'

// What every account can be told beside what its channel wants to know: its way out of the house.
export const egressSettings: readonly ChannelSetting[] = [
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

export type Given = Readonly<Record<string, string>>
export type Change = readonly [name: string, value: string]

const mostCharacters = 4000

// Gives back what holds then, and every fault at once, by name and never by value. An empty value goes back to the usual
// one.
export function changeAccount(known: readonly ChannelSetting[], before: Given, changes: readonly Change[]) {
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
  const odd = changes.flatMap(([name, value]) => oddWords(name, value))
  const missing = known.flatMap(({ name, words, usual }) =>
    given[name] === undefined && usual === undefined ? [`${name}: is missing. ${words}`] : [],
  )
  return { given, faults: [...new Set([...unknown, ...twice, ...odd, ...missing])] }
}

// A key may be a text of several lines, in a file.
function oddWords(name: string, value: string): string[] {
  if (!isAtMost(value, mostCharacters)) return [`${name}: at most ${mostCharacters} characters`]
  return isPlainText(value.replace(/\r?\n/g, '')) ? [] : [`${name}: must not contain control characters`]
}

// Apart what is a secret. What a channel does not know any more may be one.
export function splitSecrets(known: readonly ChannelSetting[], given: Given) {
  const isPlain = ([name]: Change) => known.some(one => one.name === name && !one.isSecret)
  const all = Object.entries(given)
  return {
    settings: Object.fromEntries(all.filter(isPlain)),
    secrets: Object.fromEntries(all.filter(one => !isPlain(one))),
  }
}
