import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  addressWithoutPayer,
  bodyWithoutPayer,
  maskedOnly,
  redactionSentence,
  spellingsOf,
  withoutPayer,
} from '../../../src/core/redaction/redact.ts'
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
