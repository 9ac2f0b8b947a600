import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cleanError, cleanId, cleanText, cleanOptionalText, isPlainText } from '../../src/core/text.ts'

const anything = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('a', '\\', '\u0000', 'u0000', '\ud800', '\udc00', '😀', ' ') }),
  fc.anything(),
)

describe('words', () => {
  for (const [told, kept] of [
    ['Approved', 'Approved'],
    [' two\nlines\u0000 ', 'two lines'],
    ['half \ud83d', 'half \ufffd'],
    ['12345678901234567890', '1234567890'],
    ['123456789😀', '123456789'],
    ['a\u202eb\u200bc', 'a b c'],
    [7, '7'],
    [7n, '7'],
    [undefined, 'undefined'],
    [null, 'null'],
    [{}, 'an object'],
    [Object.create(null), 'an object'],
  ] as const)
    test(JSON.stringify(kept), () => expect(cleanText(told, 10)).toBe(kept))

  test('whatever is told, they are plain, and not too long', () =>
    fc.assert(
      fc.property(anything, fc.nat(50), (told, max) => {
        const words = cleanText(told, max)
        expect(isPlainText(words) && words.length <= max).toBe(true)
      }),
    ))

  test('of what is no word there are none', () => {
    for (const told of [undefined, null, Number.NaN, {}, [], true, '', ' \u0000'])
      expect(cleanOptionalText(told, 10)).toBeUndefined()
    expect(cleanOptionalText(51, 10)).toBe('51')
  })

  test('of an error, its cause and whatever else is thrown', () => {
    expect(cleanError(new Error('fetch failed', { cause: new Error('refused\u0000') }), 99)).toBe(
      'fetch failed: refused',
    )
    expect(cleanError('because', 99)).toBe('because')
    expect(cleanError(undefined, 99)).toBe('undefined')
  })
})

describe('an id', () => {
  for (const [told, kept] of [
    ['FT123', 'FT123'],
    ['<a.b-c@mail.example>', '<a.b-c@mail.example>'],
    ['FT123\u0000', 'FT123\\u0000'],
    ['FT123\\u0000', 'FT123\\\\u0000'],
    ['\ud800', '\\ud800'],
    ['😀', '😀'],
    [123, '123'],
    [123n, '123'],
    ['', undefined],
    [undefined, undefined],
    [{}, undefined],
    [Number.NaN, undefined],
    ['x'.repeat(200), 'x'.repeat(200)],
  ] as const)
    test(JSON.stringify(String(told)).slice(0, 30), () => expect(cleanId(told)).toBe(kept))

  test('too long is hashed, never cut; and nothing else looks like a hash', () => {
    const long = 'x'.repeat(100_000)
    expect(cleanId(long)).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect(cleanId(`${long}y`)).not.toBe(cleanId(long))
    expect(cleanId(cleanId(long))).not.toBe(cleanId(long))
    expect(cleanId(`${long}\ud800`)).not.toBe(cleanId(`${long}\ud801`))
  })

  test('two are never one, and each can be written down', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1 }),
      fc.string({
        unit: fc.constantFrom('\\', '\u0000', 'u', '0', '\ud800', '\udc00'),
        minLength: 1,
        maxLength: 8,
      }),
    )
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        expect(cleanId(a) === cleanId(b)).toBe(a === b)
        expect(isPlainText(cleanId(a) ?? '')).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })
})
