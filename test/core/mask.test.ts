import { expect, test } from 'vitest'
import { maskContacts, maskNumbers } from '../../src/core/mask.ts'

for (const [sentence, masked] of [
  ['Approved for 0241234567', 'Approved for 024 ••• 4567'],
  ['Declined by +233 24 412 3456, code 51', 'Declined by 024 ••• 3456, code 51'],
  ['no party 233244123456', 'no party 024 ••• 3456'],
  ['4084-0840-8408-4081 was refused', '408 ••• 4081 was refused'],
  ['wallet 1234567', 'wallet •••'],
  ['code 51, in 30 seconds', 'code 51, in 30 seconds'],
] as const)
  test(`nobody's number stands in a sentence: ${sentence}`, () => expect(maskNumbers(sentence)).toBe(masked))

const contacts = { phones: ['+233244123456'], emails: ['a.ma+1@mail.example'] }

for (const [text, masked] of [
  ['We sent a code to 0244123456.', 'We sent a code to 024 ••• 3456.'],
  ['to +233 24 412 3456, code 246810', 'to 024 ••• 3456, code 246810'],
  ['code 246810 0244-123-456', 'code 246810 024 ••• 3456'],
  ['233244123456 / 00233244123456 / 244123456', '024 ••• 3456 / 024 ••• 3456 / 024 ••• 3456'],
  ['+233 (0)244 123456', '024 ••• 3456'],
  ['(024) 412.3456!', '(024 ••• 3456!'],
  ['A.MA+1@Mail.example asked', 'a••@mail.example asked'],
  ['aXma+1@mail.example asked', 'aXma+1@mail.example asked'],
  ['Pay to account 1400244123456789', 'Pay to account 1400244123456789'], // another number
  ['Dial *110*0201234567#', 'Dial *110*0201234567#'],
  ['Two straw hats, order 1042', 'Two straw hats, order 1042'],
] as const)
  test(`texts never contain the customer's own contacts: ${text}`, () =>
    expect(maskContacts(text, contacts)).toBe(masked))

test('a number of a country with short numbers is masked, too', () =>
  expect(maskContacts('Code sent to 90123456', { phones: ['+22890123456'], emails: [] })).toBe(
    'Code sent to +22 ••• 3456',
  ))
