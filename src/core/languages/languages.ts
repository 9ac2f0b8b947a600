import type { Texts } from './en.ts'
import * as shipped from './shipped.ts'

// Every language that a customer may be spoken to in, by its name in addresses and headers.
export const languages = { ...shipped } satisfies Record<string, Texts>
export type Lang = keyof typeof languages

const maxHeader = 200 // of Accept-Language: nobody has more languages

const isLang = (word: string | undefined): word is Lang =>
  word !== undefined && Object.hasOwn(languages, word)

// What was asked for by name; otherwise what the browser likes best of what we have.
export const chosenLang = (asked: string | undefined): Lang | undefined => (isLang(asked) ? asked : undefined)

// What was written down may be a language that we do not speak, or no longer.
export const textsFor = (word: string) => languages[chosenLang(word) ?? 'en']

export function preferredLang(header = ''): Lang {
  const wishes = header
    .slice(0, maxHeader)
    .split(',')
    .map(readWish)
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
  return wishes.map(({ word }) => word).find(isLang) ?? 'en'
}

function readWish(part: string) {
  const [tag = '', ...parameters] = part.split(';')
  const q = parameters.map(text => /^\s*q=([\d.]+)\s*$/.exec(text)?.[1]).find(text => text !== undefined)
  return { word: tag.trim().split('-')[0]?.toLowerCase(), weight: q === undefined ? 1 : Number(q) || 0 }
}
