import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { NumberText } from '../../../src/core/interface/json.ts'
import { isInvoiceId } from '../../../src/core/interface/request.ts'
import {
  isSigned,
  keyReadings,
  requestString,
  totalSpellings,
} from '../../../src/core/interface/signature.ts'

const secret = '00112233445566778899aabbccddeeff'
const text = 'invoice_id=invoice001&merchant_key=demo-merchant&total=25.00'
const asText = '6917989e5641c85d49a8f8045e3abd1da701af0d1326a88de0b8ff860ef46583'
const asHex = '723D7E6B667EB8B40E7691652C7BECE18EA8D8400C097B821DA1EFB21B587CB4'

test('the string has its names in alphabetical order', () => {
  expect(requestString('invoice001', 'demo-merchant', '25.00')).toBe(text)
})

for (const [name, hash, signed] of [
  ['key as text', asText, true],
  ['key hex-decoded, upper case', asHex, true],
  ['key as text, upper case', asText.toUpperCase(), true],
  ['one digit off', `${asText.slice(0, -1)}0`, false],
  ['cut short', asText.slice(0, -2), false],
  ['with a tail', `${asText}00`, false],
  ['empty', '', false],
  ['all zeros', '0'.repeat(64), false],
  ['not hexadecimal', 'z'.repeat(64), false],
] as const) {
  test(`test vector, ${name}: ${signed ? 'signed' : 'not signed'}`, () => {
    expect(isSigned(keyReadings(secret), [text], hash)).toBe(signed)
  })
}

test('a secret that is not even-length hex has one reading', () => {
  expect(keyReadings('not hex')).toHaveLength(1)
  expect(keyReadings('abc')).toHaveLength(1)
})

for (const [total, spellings] of [
  ['10.50', ['10.50']],
  [new NumberText('10.50'), ['10.50', '10.5']],
  [new NumberText('10.5'), ['10.5', '10.50']],
  [new NumberText('10'), ['10', '10.00']],
  [new NumberText('10.00'), ['10.00', '10']],
  [new NumberText('1e3'), ['1e3']],
] as const) {
  const sent = total instanceof NumberText ? `number ${total.text}` : `text ${total}`
  test(`${sent} is hashed as ${spellings.join(' or ')}`, () =>
    expect(totalSpellings(total)).toEqual(spellings))
}

const invoices = fc.stringMatching(/^[A-Za-z0-9\-_./#:]([A-Za-z0-9\-_./#: ]{0,23}[A-Za-z0-9\-_./#:])?$/)
const keys = fc.stringMatching(/^[tl]k_[0-9a-z]{24}$/)
const totals = fc.stringMatching(/^\d{1,12}(\.\d{1,2})?$/)
const triples = fc.tuple(invoices, keys, totals)

test('no two requests share one string', () => {
  fc.assert(
    fc.property(triples, triples, (a, b) => {
      fc.pre(a.join('\0') !== b.join('\0'))
      expect(requestString(...a)).not.toBe(requestString(...b))
    }),
  )
  fc.assert(fc.property(invoices, isInvoiceId)) // they are the invoice ids that we store
})

test('any change of any field breaks the hash', () => {
  fc.assert(
    fc.property(triples, triples, fc.nat(2), (signed, other, field) => {
      fc.pre(signed[field] !== other[field])
      const hash = createHmac('sha256', secret)
        .update(requestString(...signed))
        .digest('hex')
      const altered = signed.with(field, other[field] as string) as typeof signed
      expect(isSigned(keyReadings(secret), [requestString(...signed)], hash)).toBe(true)
      expect(isSigned(keyReadings(secret), [requestString(...altered)], hash)).toBe(false)
    }),
  )
})
