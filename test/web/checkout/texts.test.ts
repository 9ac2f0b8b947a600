import { describe, expect, test } from 'vitest'
import { reasons } from '../../../src/core/provider/reason.ts'
import { languages, preferredLang } from '../../../src/core/languages/languages.ts'
import { fill } from '../../../src/core/text.ts'
import { sandboxAccount } from '../../support/checkout/views.ts'

const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort()

function flat(texts: object, under = ''): Map<string, string> {
  const all = new Map<string, string>()
  for (const [key, value] of Object.entries(texts)) {
    if (typeof value === 'string') all.set(under + key, value)
    else for (const [path, text] of flat(value, `${under}${key}.`)) all.set(path, text)
  }
  return all
}

const english = flat(languages.en)

for (const [lang, texts] of Object.entries(languages)) {
  describe(lang, () => {
    const words = flat(texts)

    test('has exactly the keys of English', () => expect([...words.keys()]).toEqual([...english.keys()]))

    test('has the same placeholders, and no empty text', () => {
      for (const [key, text] of words) {
        expect(text.trim(), key).not.toBe('')
        expect(placeholders(text), key).toEqual(placeholders(english.get(key) ?? ''))
      }
    })

    test('has no exclamation marks', () => {
      for (const [key, text] of words) expect(text, key).not.toMatch(/!/)
    })

    test('has a text for every reason', () =>
      expect(Object.keys(texts.reasons).sort()).toEqual(Object.keys(reasons).sort()))

    test('has a text for every field of a provider', () => {
      for (const { fields } of sandboxAccount.methods)
        for (const { name } of fields) expect(Object.keys(texts.fields)).toContain(name)
    })
  })
}

test('French has its thin and non-breaking spaces', () => {
  for (const [key, text] of flat(languages.fr)) {
    expect(text, key).not.toMatch(/'/) // the apostrophe is ’
    expect(text, key).not.toMatch(/ [:;?»]|« /) // a line never begins with one
  }
})

for (const [header, lang] of [
  [undefined, 'en'],
  ['', 'en'],
  ['fr', 'fr'],
  ['fr-CI,fr;q=0.9,en;q=0.8', 'fr'],
  ['en;q=0.8, fr;q=0.9', 'fr'],
  ['tw, fr;q=0.5, en;q=0.4', 'fr'], // the first one that we have
  ['fr;q=0, en;q=0.1', 'en'], // "not French"
  ['FR-fr', 'fr'],
  ['de', 'en'],
  ['constructor, __proto__', 'en'],
  ['fr;q=abc', 'fr'], // a weight that nobody can read is none
  [`${'x,'.repeat(500)}fr`, 'en'],
] as const) {
  test(`Accept-Language ${header?.slice(0, 40)} is ${lang}`, () => expect(preferredLang(header)).toBe(lang))
}

test('braces in a value are not placeholders', () =>
  expect(fill('{shop} and {amount}', { shop: '{amount}', amount: 'GHS 1.00' })).toBe('{amount} and GHS 1.00'))
