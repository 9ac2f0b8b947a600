import { expect, test } from 'vitest'
import { fieldsToAsk, readFormFields } from '../../../src/core/provider/formFields.ts'
import type { FormField } from '../../../src/core/provider/paymentMethod.ts'

const phone: FormField = { name: 'phone', kind: 'phone' }
const voucher: FormField = { name: 'voucher', kind: 'digits', maxLength: 6 }
const note: FormField = { name: 'note', kind: 'text', optional: true }
const asks = [phone, voucher, note]
const right = { phone: '0240000000', voucher: '123456' }

for (const [words, typed, faults] of [
  ['nothing', {}, ['phone missing', 'voucher missing']],
  ['spaces', { phone: ' ', voucher: '\t' }, ['phone missing', 'voucher missing']],
  ['no phone number', { ...right, phone: '12' }, ['phone not_a_phone']],
  ['letters for a phone', { ...right, phone: 'Ama' }, ['phone not_a_phone']],
  ['letters for digits', { ...right, voucher: '12a456' }, ['voucher not_digits']],
  ['digits of another script', { ...right, voucher: '١٢٣' }, ['voucher not_digits']],
  ['too many digits', { ...right, voucher: '1234567' }, ['voucher too_long']],
  ['a control character', { ...right, note: 'a\u0000b' }, ['note not_text']],
  ['a long text', { ...right, note: 'a'.repeat(61) }, ['note too_long']],
  [
    'all wrong at once',
    { phone: '1', voucher: 'x', note: 'a'.repeat(61) },
    ['phone not_a_phone', 'voucher not_digits', 'note too_long'],
  ],
] as const) {
  test(`${words}: ${faults.join(', ')}`, () => {
    const read = readFormFields({ fields: asks }, typed)
    expect(read.faults.map(({ field, fault }) => `${field} ${fault}`)).toEqual(faults)
  })
}

const numbers = { region: 'GH', country: '233', begin: ['2', '5'], digits: 9, example: '024 412 3456' }

for (const [words, number, fault] of [
  ['a British mobile', '+44 7911 123456', 'not_a_wallet'],
  ['a landline of Ghana', '030 212 3456', 'not_a_wallet'],
  ['no number at all', '024 412', 'not_a_phone'],
  ['a mobile number of Ghana', '(024) 412 3456', undefined],
  ['one that was ported, of whichever network', '020 412 3456', undefined],
] as const)
  test(`for a wallet that has its numbers, ${words}: ${fault ?? 'taken'}`, () => {
    const { faults, instrument } = readFormFields({ fields: [phone], numbers }, { phone: number })
    expect(faults).toEqual(fault ? [{ field: 'phone', fault }] : [])
    expect(instrument === null).toBe(fault !== undefined)
  })

test('a method without a number format accepts any phone number', () => {
  expect(readFormFields({ fields: [phone] }, { phone: '+447911123456' }).instrument).toBe('+447911123456')
})

test('only the fields of the method are read', () => {
  const typed = { ...right, phone: ' 024 000 0000 ', voucher: '123-456', other: 'x', note: ' to Ama ' }
  expect(readFormFields({ fields: asks }, typed)).toEqual({
    given: { phone: '+233240000000', voucher: '123456', note: 'to Ama' },
    instrument: '+233240000000',
    faults: [],
  })
})

test('a method without fields has no instrument', () => {
  expect(readFormFields({ fields: [] }, right)).toEqual({ given: {}, instrument: null, faults: [] })
})

const email: FormField = { name: 'email', kind: 'email', unlessKnown: 'email' }
const birthday: FormField = { name: 'birthday', kind: 'date' }

for (const [field, typed, fault] of [
  [email, 'ama@example.com', undefined],
  [email, ' ama@example.com ', undefined],
  [email, 'ama', 'not_an_email'],
  [email, 'ama@', 'not_an_email'],
  [email, 'a@b.example c@d.example', 'not_an_email'],
  [email, 'ama@example.com\nBcc: x@example.com', 'not_text'],
  [birthday, '1990-02-28', undefined],
  [birthday, '2000-02-29', undefined],
  [birthday, '1990-02-29', 'not_a_date'],
  [birthday, '1990-02-31', 'not_a_date'],
  [birthday, '1990-13-01', 'not_a_date'],
  [birthday, '28/02/1990', 'not_a_date'],
  [birthday, '1990-2-8', 'not_a_date'],
  [birthday, '1990-02-28T00:00', 'not_a_date'],
] as const)
  test(`${field.kind} ${JSON.stringify(typed)}: ${fault ?? 'taken'}`, () => {
    const { given, faults } = readFormFields({ fields: [field] }, { [field.name]: typed })
    expect(faults).toEqual(fault ? [{ field: field.name, fault }] : [])
    expect(given).toEqual(fault ? {} : { [field.name]: typed.trim() })
  })

test('an email address may be longer than other text, and has a limit', () => {
  const mailbox = `${'a'.repeat(60)}@${'b'.repeat(60)}.`
  for (const [length, faults] of [
    [60, 0],
    [300, 1],
  ] as const) {
    const typed = { email: `${mailbox}${'c'.repeat(length)}.example` }
    expect(readFormFields({ fields: [email] }, typed).faults).toHaveLength(faults)
  }
})

for (const [what, known, names] of [
  ['nothing', { email: null, name: null }, ['phone', 'email', 'holder']],
  ['the mailbox', { email: 'ama@example.com', name: null }, ['phone', 'holder']],
  ['both', { email: 'ama@example.com', name: 'Ama' }, ['phone']],
  ['an empty one', { email: '', name: 'Ama' }, ['phone', 'email']],
] as const)
  test(`if the merchant has sent ${what}, the form has ${names.join(', ')}`, () => {
    const holder: FormField = { name: 'holder', kind: 'text', unlessKnown: 'name' }
    expect(fieldsToAsk([phone, email, holder], known).map(({ name }) => name)).toEqual(names)
  })
