import fc from 'fast-check'
import { expect, test } from 'vitest'
import { guessNetwork, parsePhone } from '../../src/core/phone.ts'

for (const [text, phone] of [
  ['0241234567', '+233241234567'],
  ['233241234567', '+233241234567'],
  ['+233241234567', '+233241234567'],
  ['024 123 4567', '+233241234567'],
  ['024-123-4567', '+233241234567'],
  ['+233 24 123 4567', '+233241234567'],
  ['0254012345', '+233254012345'], // real, though strict tables call it invalid
  ['0591234567', '+233591234567'],
  ['+447911123456', '+447911123456'],
  ['024123456', undefined],
  ['02412345678', undefined],
  ['0041234567', undefined],
  ['1234', undefined],
  ['+0241234567', undefined],
  ['phone', undefined],
  ['0241234567; drop', undefined],
  ['', undefined],
  ['+999999999999999', undefined],
] as const) {
  test(`${text || 'nothing'} is ${phone ?? 'no phone number'}`, () => expect(parsePhone(text)).toBe(phone))
}

for (const [prefixes, network] of [
  [['024', '025', '053', '054', '055', '059'], 'mtn'],
  [['020', '050'], 'telecel'],
  [['026', '027', '056', '057'], 'at'],
  [['023', '028', '030'], undefined],
] as const) {
  test(`${prefixes.join(' ')} look like ${network ?? 'no network that we know'}`, () => {
    for (const prefix of prefixes) expect(guessNetwork(parsePhone(`${prefix}1234567`) ?? '')).toBe(network)
  })
}

const national = fc.stringMatching(/^[1-9]\d{8}$/)
const gaps = fc.array(fc.constantFrom('', ' ', '-'), { minLength: 13, maxLength: 13 })

test('every spelling of a Ghana number gives the same E.164', () => {
  fc.assert(
    fc.property(national, fc.constantFrom('0', '233', '+233'), gaps, (digits, prefix, between) => {
      const text = [...(prefix + digits)].map((char, at) => char + (between[at] ?? '')).join('')
      expect(parsePhone(text)).toBe(`+233${digits}`)
    }),
  )
})

test('whatever comes out is E.164', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[+0-9 -]{0,20}$/)), text => {
      expect(parsePhone(text) ?? '+10000000').toMatch(/^\+[1-9]\d{6,14}$/)
    }),
    { numRuns: 3000 },
  )
})
