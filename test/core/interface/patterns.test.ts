import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as patterns from '../../../src/core/interface/patterns.ts'
import { requestSchema } from '../../../src/core/interface/request.ts'
import { parseMoney } from '../../../src/core/money.ts'
import { parsePhone, withoutDecoration } from '../../../src/core/phone.ts'
import { isPlainText, onOneLine, parseUrl } from '../../../src/core/text.ts'

const { email, extra_wallet_issuer_hint: hint } = requestSchema.shape
const isUrl = (text: string) => parseUrl(text) === undefined && isPlainText(text)
const isMoney = (text: string) => typeof parseMoney(text, 'GHS') === 'bigint'
const isPhone = (text: string) => parsePhone(text) !== undefined
const isOfGhana = (text: string) => /^(0|((\+|00)?233)0?)?[1-9]\d{8}$/.test(withoutDecoration(text))
const fits = (pattern: string, text: string) => new RegExp(pattern, 'u').test(text)
const fitsTotal = (text: string) => fits(patterns.total, text) && fits(patterns.moreThanZero, text)

const matching = (pattern: string) =>
  pattern === patterns.plainText || pattern === patterns.multilineText
    ? fc.string({ unit: 'grapheme' })
    : fc.stringMatching(new RegExp(pattern, 'u'))

// Texts that fit, and texts that nearly do: one character changed, left out or put in.
function near(pattern: string) {
  const odd = fc.oneof(
    fc.constantFrom(...' -+.@/:?#[]\\%0123e\0\n\t\u0085\u00a0\ufeff"{|}`^<>é𝄞'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  )
  const change = fc.record({ at: fc.nat(30), cut: fc.nat(1), put: fc.option(odd, { nil: '' }) })
  return fc
    .tuple(matching(pattern), fc.array(change, { maxLength: 2 }))
    .map(([text, changes]) =>
      changes.reduce((now, { at, cut, put }) => now.slice(0, at) + put + now.slice(at + cut), text),
    )
    .filter(text => text.isWellFormed() && [...text].length <= 254)
}

const same = { numRuns: 400, seed: 5 }

for (const [name, pattern, isTaken, isMatch] of [
  ['a text', patterns.plainText, isPlainText, fits.bind(null, patterns.plainText)],
  [
    'a text of several lines',
    patterns.multilineText,
    (text: string) => isPlainText(onOneLine(text)),
    fits.bind(null, patterns.multilineText),
  ],
  [
    'an email address',
    patterns.email,
    (text: string) => email.safeParse(text).success,
    fits.bind(null, patterns.email),
  ],
  ['a total', patterns.total, isMoney, fitsTotal],
  [
    'a network',
    patterns.anyCase(['mtn', 'telecel']),
    (text: string) => /^(mtn|telecel)$/i.test(text),
    undefined,
  ],
] as const) {
  test(`${name} is taken when it fits its pattern, and else not`, () => {
    const matches = isMatch ?? ((text: string) => fits(pattern, text))
    fc.assert(
      fc.property(near(pattern), text => {
        expect(matches(text), JSON.stringify(text)).toBe(isTaken(text))
      }),
      same,
    )
  })
}

for (const [name, pattern, isTaken] of [
  ['URL', patterns.url, isUrl],
  ['phone number', patterns.phone, isPhone],
] as const) {
  test(`a ${name} that is taken fits its pattern`, () => {
    fc.assert(
      fc.property(near(pattern), text => {
        if (isTaken(text)) expect(fits(pattern, text), JSON.stringify(text)).toBe(true)
      }),
      same,
    )
  })
}

test('of what fits its pattern, only a host that cannot be and a number of no country is refused', () => {
  const phones = matching(patterns.phone)
  fc.assert(
    fc.property(phones, text => {
      expect(isPhone(text) || !isOfGhana(text), text).toBe(true)
    }),
    same,
  )
  const urls = matching(patterns.url)
  fc.assert(
    fc.property(urls, text => {
      expect(isUrl(text) || !URL.canParse(text), text).toBe(true)
    }),
    same,
  )
})

test('every name of a network is accepted in any letter case', () => {
  for (const word of ['MTN', 'tigo', 'AirtelTigo', 'vodaFONE', 'Telecel', 'airtel'])
    expect(hint.safeParse(word).success, word).toBe(true)
})

test('the patterns are written in what every dialect reads alike', () => {
  const all = [
    patterns.plainText,
    patterns.multilineText,
    patterns.email,
    patterns.url,
    patterns.phone,
    patterns.total,
    patterns.hexDigest,
  ]
  for (const pattern of all) expect(pattern).not.toMatch(/\\[sSdDwWbBpPk]|\(\?/)
})

test('an address with Latin-1 letters stays one after many calls', () => {
  for (let at = 0; at < 200_000; at++) parseUrl(`https://shop.example/${at % 7}`)
  expect(parseUrl('https://müller.example:8443/x')).toBeUndefined()
})
