import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  addressWithoutPayer,
  bodyWithoutPayer,
  isOfPerson,
  maskedOnly,
  patternsOf,
  redactionSentence,
  spellingOf,
  spellingsOf,
  textsNaming,
  withoutPayer,
} from '../../../src/core/redaction/redact.ts'
import { readPerson } from '../../../src/core/redaction/readPerson.ts'
import type { Person } from '../../../src/core/redaction/redact.ts'
import { after, hours, noon } from '../../support/payments/rows.ts'

const nobody = { name: null, email: null, number: null, pymt_instrument: null }
const ama = spellingsOf(
  { ...nobody, name: 'Ama Mensah (Osu)', email: 'a.mensah@mail.example', number: '+233241234567' },
  ['+233209876543', null, '411111******1111'],
)

for (const [words, left] of [
  ['Ama Mensah (Osu) rang', '(removed) rang'],
  ['ama   MENSAH said', '(removed)   (removed) said'],
  ['write to A.Mensah@mail.example', 'write to (removed)'],
  ['0241234567', '(removed)'],
  ['+233 24 123 4567, twice', '(removed), twice'],
  ['00233-24-123-4567', '(removed)'],
  ['+233(0)24.123.4567', '(removed)'],
  ['wallet 020 987 6543', 'wallet (removed)'],
  ['Amanda paid 2412345 in bank ref 77-1', 'Amanda paid 2412345 in bank ref 77-1'], // somebody else's words
] as const)
  test(`in "${words}" the payer is not named any more`, () => expect(withoutPayer(words, ama)).toBe(left))

test('a payer of any name and any address is removed', () => {
  const texts = fc
    .string({ unit: 'grapheme', minLength: 3, maxLength: 30 })
    .map(text => text.replace(/\s/g, '-'))
  fc.assert(
    fc.property(fc.oneof(texts, fc.constantFrom('Anne-Marie', 'A/B-C', '(((', '^$.*', '-]-')), text => {
      const spellings = spellingsOf({ ...nobody, name: text, email: `${text}@mail-1.example` })
      expect(withoutPayer(`${text}@mail-1.example`, spellings)).toBe('(removed)')
      expect(withoutPayer(text, spellings)).toBe('(removed)')
    }),
  )
})

test('of nobody nothing is removed', () => {
  expect(spellingsOf(nobody)).toBeUndefined()
  expect(withoutPayer('Ama', undefined)).toBe('Ama')
})

for (const [address, left] of [
  ['https://shop.example/ipn?order=7', 'https://shop.example/ipn?order=7'],
  ['https://shop.example/ipn?order=7&to=a.mensah%40mail.example', 'https://shop.example/ipn'],
  ['https://shop.example/ipn?who=Ama+Mensah', 'https://shop.example/ipn'],
  ['https://shop.example/ipn/%2B233241234567?x=1', 'https://shop.example/'],
  ['https://shop.example/%E0%A4%A?n=0241234567', 'https://shop.example/%E0%A4%A'],
] as const)
  test(`${address} becomes ${left}`, () => expect(addressWithoutPayer(address, ama)).toBe(left))

for (const [told, kept] of [
  ['024 ••• 4567', '024 ••• 4567'],
  ['VISA •••• 1111', 'VISA •••• 1111'],
  ['024 123 4567', null],
  [null, null],
] as const)
  test(`the instrument ${told} is kept as ${kept}`, () => expect(maskedOnly(told)).toBe(kept))

test('a notification keeps its amounts and names as they were written', () => {
  const body =
    '{"invoice_id":"A-1","amount":25.5,"payment_time":null,"extra":{"name":"Ama","shop":"Osu","channel":"card"}}'
  expect(bodyWithoutPayer(body)).toBe(
    '{"invoice_id":"A-1","amount":25.5,"payment_time":null,"extra":{"channel":"card","wallet_issuer_hint":null,' +
      '"card_type":null,"psp_response_code":null,"email":null,"mobile_no":null,"Mobile_no":null,"name":null,' +
      '"psp_response_msg":null}}',
  )
})

test('it is said when, and how long after the end', () => {
  expect(redactionSentence({ redacted_at: null, updated_at: noon })).toBeNull()
  expect(redactionSentence({ redacted_at: after(hours(24 * 31)), updated_at: noon })).toBe(
    'personal details were removed on 2026-04-02, 31 days after it ended',
  )
})

const person = (typed: string) => readPerson(typed) as Person
const withoutPerson = (typed: string, text: string) =>
  withoutPayer(text, patternsOf([spellingOf(person(typed))]).exact)

for (const [typed, text, left] of [
  ['ama@mail.example', 'panama@mail.example', undefined],
  ['ama@mail.example', 'x.ama@mail.example', undefined],
  ['ama@mail.example', 'o-ama@mail.example', undefined],
  ['ama@mail.example', 'x%2Bama%40mail.example', undefined],
  ['ama@mail.co', 'ama@mail.com', undefined],
  ['ama@mail.co', 'ama@mail.co.uk', undefined],
  ['ama@mail.co', 'ama@mail.co-op.example', undefined],
  ['ama@mail.co', 'to AMA@mail.co.', 'to (removed).'],
  ['ama@mail.co', '<ama@mail.co>', '<(removed)>'],
  ['ama@mail.co', '...ama@mail.co_2', '...(removed)_2'],
  [
    'ama@mail.co',
    'https://s.example/?next=%2Fx%3Fto%3Dama%40mail.co%26a',
    'https://s.example/?next=%2Fx%3Fto%3D(removed)%26a',
  ],
  ['ama+osu@mail.co', 'to=ama%2Bosu%40mail.co&x', 'to=(removed)&x'],
  ['+233544123456', '+2250544123456', undefined],
  ['+233544123456', '+225 05 44 12 34 56', undefined],
  ['+233544123456', '+225 0544123456', undefined],
  ['+233544123456', '00225-0544123456', undefined],
  ['+233544123456', 'txn 9954412345677', undefined],
  ['+233544123456', 'txn 0054412345677', undefined],
  ['+233544123456', '4444544123456', undefined],
  ['+233544123456', '5441234560', undefined],
  ['+233544123456', '0544123456', '(removed)'],
  ['+233544123456', '544123456', '(removed)'],
  ['+233544123456', 'tel:0544-123-456, 233544123456', 'tel:(removed), (removed)'],
  ['+233544123456', '00233 544 123 456', '(removed)'],
  ['+233544123456', '+233 (0)54 412 3456', '(removed)'],
  ['+233544123456', '+233   544 123 456', '(removed)'],
  ['+233544123456', '054\u2011412\u00a03456', '(removed)'],
  ['+233544123456', '?p=%2B233544123456&q=%200544123456', '?p=(removed)&q=%20(removed)'],
  ['+233544123456', '+233201112222 0544123456', '+233201112222 (removed)'],
  ['+233544123456', 'GHS 200 0544123456', 'GHS 200 (removed)'],
  ['+22890123456', '90 12 34 56', '(removed)'],
  ['+22890123456', '190123456', undefined],
  ['+2250544123456', '0544123456', '(removed)'],
  ['+2250544123456', '+233544123456', undefined],
  ['+79123456789', '8 912 345-67-89', '(removed)'],
  ['+29022123', '22123', undefined], // a number of five digits is too short without its prefix
  ['+29022123', '+290 22123', '(removed)'],
] as const)
  test(`of "${text}" ${left === undefined ? 'nothing' : 'a part'} is ${typed}`, () =>
    expect(withoutPerson(typed, text)).toBe(left ?? text))

for (const [typed, stored, isTheirs] of [
  ['+233544123456', '+233544123456', true],
  ['+233544123456', '054 412 3456', true],
  ['+233544123456', '233544123456', true],
  ['+2250544123456', '2250544123456', true],
  ['+233544123456', '+2250544123456', false],
  ['+233544123456', '054 ••• 3456', false],
  ['+233544123456', '4111 11** **** 3456', false],
  ['ama@mail.co', 'Ama@Mail.co', true],
  ['ama@mail.co', 'ama@mail.com', false],
  ['ama@mail.co', null, false],
] as const)
  test(`${stored} is ${isTheirs ? '' : 'not '}the whole of ${typed}`, () =>
    expect(isOfPerson(person(typed), stored)).toBe(isTheirs))

test('of a value only the texts with the person are taken', () => {
  const { exact } = patternsOf([spellingOf(person('0544123456'))])
  const value = {
    name: 'Yaw',
    extra: { staff: '054 412 3456', table: '7' },
    list: ['a', '0544123456'],
    at: noon,
  }
  expect(textsNaming(value, exact)).toEqual({ extra: { staff: '054 412 3456' }, list: ['0544123456'] })
  expect(textsNaming({ name: 'Yaw' }, exact)).toBeUndefined()
})
