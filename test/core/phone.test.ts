import fc from 'fast-check'
import { expect, test } from 'vitest'
import { guessNetwork, isAmong, parsePhone } from '../../src/core/phone.ts'

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
  ['244123456', '+233244123456'], // as those write who know that the zero is no part of it
  ['233123456', '+233233123456'], // nine digits, so no country
  ['(024) 412 3456', '+233244123456'],
  ['024.412.3456', '+233244123456'],
  ['[024] 412–3456', '+233244123456'],
  ['00233244123456', '+233244123456'],
  ['00 233 (0) 24 412 3456', '+233244123456'],
  ['+233(0)244123456', '+233244123456'],
  ['+233 (024) 412 3456', '+233244123456'],
  ['(+233) 24 412 3456', '+233244123456'],
  ['2330244123456', '+233244123456'],
  ['024\u00a0412\u202f3456', '+233244123456'],
  ['\u202a+233 24 412 3456\u202c', '+233244123456'], // as a contact app copies it
  ['\u2066024 412 3456\u2069\u200e', '+233244123456'],
  ['\ufeff024\u200b412\u200d3456', '+233244123456'],
  ['024\u2011412\u22123456', '+233244123456'],
  ['＋２３３２４４１２３４５６', '+233244123456'],
  ['+44 (0)7911 123456', '+447911123456'],
  ['0044 7911 123456', '+447911123456'],
  ['+39 06 1234 5678', '+390612345678'], // there the zero is a part of it
  ['024123456', undefined],
  ['02412345678', undefined],
  ['0041234567', undefined],
  ['1234', undefined],
  ['+0241234567', undefined],
  ['phone', undefined],
  ['0241234567; drop', undefined],
  ['', undefined],
  ['+999999999999999', undefined],
  ['24412345', undefined],
  ['2441234567', undefined],
  ['00244123456', undefined], // a zero too many
  ['0002441234567', undefined],
  ['++233244123456', undefined],
  ['+00233244123456', undefined],
  ['024+4123456', undefined],
  ['0244123456 ext 5', undefined],
  ['0244123456/0201234567', undefined],
  ['0244123456\n', undefined],
  ['024\t412 3456', undefined],
  ['024412345²', undefined],
  ['024 ••• 3456', undefined],
  ['( )', undefined],
] as const) {
  test(`${text || 'nothing'} is ${phone ?? 'no phone number'}`, () => expect(parsePhone(text)).toBe(phone))
}

for (const [region, text, phone] of [
  ['UG', '0712345678', '+256712345678'],
  ['UG', '(0712) 345-678', '+256712345678'],
  ['UG', '712345678', '+256712345678'],
  ['UG', '256712345678', '+256712345678'],
  ['UG', '00256712345678', '+256712345678'],
  ['UG', '+2560712345678', '+256712345678'],
  ['UG', '+233244123456', '+233244123456'], // of another country, by its code
  ['UG', '0712', undefined],
  ['UG', '07123456789', undefined],
  ['UG', '0712345678 ext 5', undefined],
  ['CI', '0712345678', '+2250712345678'],
  ['CM', '0671234567', undefined], // there is no zero before a number
] as const)
  test(`in ${region}, ${text} is ${phone ?? 'no phone number'}`, () =>
    expect(parsePhone(text, region)).toBe(phone))

for (const [region, phone, dialled] of [
  ['GH', '+233244123456', '0244123456'],
  ['GH', '+256712345678', '+256712345678'],
  ['UG', '+256712345678', '0712345678'],
  ['UG', '+233244123456', '+233244123456'],
  ['CI', '+2250712345678', '0712345678'],
  ['CM', '+237671234567', '671234567'],
  ['ZA', '+27831234567', '0831234567'],
  ['SZ', '+26876123456', '76123456'],
] as const)
  test(`in ${region}, ${dialled} and ${phone} are read as the same number`, () => {
    for (const text of [dialled, phone]) expect(parsePhone(text, region)).toBe(phone)
  })

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

const ghana = { region: 'GH', country: '233', begin: ['2', '5'], digits: 9, example: '024 412 3456' }

for (const [phone, can] of [
  ['+233244123456', true],
  ['+233501234567', true],
  ['+233302123456', false], // a landline of Accra
  ['+447911123456', false],
  ['+23324412345', false],
  ['+2332441234567', false],
  ['+234244123456', false],
  ['+22244123456', false],
] as const)
  test(`${phone} ${can ? 'can' : 'cannot'} be a mobile number of Ghana`, () =>
    expect(isAmong(phone, ghana)).toBe(can))

const national = fc.stringMatching(/^[1-9]\d{8}$/)
const decorations = [...' -–—‐‑−.()[]', '\u00a0', '\u202f', '\u2009', '\u3000', '\u200b', '\u200e', '\u200f']
const pasted = [
  '\u202a',
  '\u202b',
  '\u202c',
  '\u202d',
  '\u202e',
  '\u2066',
  '\u2067',
  '\u2068',
  '\u2069',
  '\ufeff',
]
const gap = fc.array(fc.constantFrom(...decorations, ...pasted), { maxLength: 3 }).map(all => all.join(''))
const gaps = fc.array(gap, { minLength: 20, maxLength: 20 })
const decorate = (text: string, between: readonly string[]) =>
  (between.at(-1) ?? '') + [...text].map((char, at) => char + (between[at] ?? '')).join('')
const prefixes = ['', '0', '233', '2330', '+233', '+2330', '00233', '002330']

test('every spelling of a Ghana number gives the same E.164', () => {
  fc.assert(
    fc.property(national, fc.constantFrom(...prefixes), gaps, (digits, prefix, between) => {
      expect(parsePhone(decorate(prefix + digits, between))).toBe(`+233${digits}`)
    }),
  )
})

const near = fc.stringMatching(/^(\+|00|0|233|\+233|\+44|\+1)?\d{0,14}\+?\d{0,2}$/)

test('decoration changes nothing: neither which number it is, nor whether it is one', () => {
  fc.assert(
    fc.property(near, gaps, (text, between) => {
      expect(parsePhone(decorate(text, between))).toBe(parsePhone(text))
    }),
    { numRuns: 1000 },
  )
})

test('any other character makes it no number', () => {
  const other = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 1 })
    .filter(char => !/[\d+０-９＋]/.test(char) && parsePhone(`0${char}244123456`) === undefined)
  const plain = fc.constantFrom('0244123456', '244123456', '+447911123456', '00233244123456')
  fc.assert(
    fc.property(plain, fc.nat(9), other, (text, at, char) => {
      expect(parsePhone(text.slice(0, at) + char + text.slice(at))).toBeUndefined()
    }),
  )
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  const never = /[\u0000-\u001f\u007f-\u009f,;:*#•/\\\p{L}\p{No}]/u
  const all = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code))
  expect(all.filter(char => never.test(char) && parsePhone(`024${char}4123456`))).toEqual([])
})

test('whatever comes out is E.164', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[+0-9 -]{0,20}$/)), text => {
      expect(parsePhone(text) ?? '+10000000').toMatch(/^\+[1-9]\d{6,14}$/)
    }),
    { numRuns: 3000 },
  )
})
