import { en, type Texts } from './en.ts'
import { fr } from './fr.ts'

// The languages of customers, by their name in addresses and headers. Only a language that a native reader has checked
// is in this list: see docs/languages.md.
export const languages = { en, fr } satisfies Record<string, Texts>
export type Lang = keyof typeof languages

const maxHeader = 200 // characters of Accept-Language

const isLang = (word: string | undefined): word is Lang =>
  word !== undefined && Object.hasOwn(languages, word)

export const chosenLang = (asked: string | undefined): Lang | undefined => (isLang(asked) ? asked : undefined)

// A stored language may be unknown to this version.
export const textsFor = (word: string) => languages[chosenLang(word) ?? 'en']

// The supported language that the browser prefers.
export function preferredLang(header = ''): Lang {
  const preferences = header
    .slice(0, maxHeader)
    .split(',')
    .map(readPreference)
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
  return preferences.map(({ word }) => word).find(isLang) ?? 'en'
}

function readPreference(part: string) {
  const [tag = '', ...parameters] = part.split(';')
  const q = parameters.map(text => /^\s*q=([\d.]+)\s*$/.exec(text)?.[1]).find(text => text !== undefined)
  return { word: tag.trim().split('-')[0]?.toLowerCase(), weight: q === undefined ? 1 : Number(q) || 0 }
}
