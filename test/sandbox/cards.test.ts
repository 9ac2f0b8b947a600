import { describe, expect, test } from 'vitest'
import { en } from '../../src/core/languages/en.ts'
import { type CardForm, readCard, testCards } from '../../src/sandbox/cards.ts'

const now = new Date('2026-06-30T23:59:59Z')
const good: CardForm = { number: '4111 1111 1111 1111', expiry: '09/30', cvv: '123', name: '' }
const read = (changes: Partial<CardForm>) => readCard({ ...good, ...changes }, now)

describe('a faulty field has a message that says how to correct it', () => {
  for (const [field, value, words] of [
    ['number', '', /missing/],
    ['number', '4111 1111 1111 111x', /digits only/],
    ['number', '411111', /12 to 19/],
    ['number', '4'.repeat(20), /12 to 19/],
    ['number', '4111 1111 1111 1112', /digit is wrong/],
    ['number', '4012888888881881', /no test card/], // a good number that is not in the table
    ['expiry', '', /like 09\/30/],
    ['expiry', '13/30', /like 09\/30/],
    ['expiry', '00/30', /like 09\/30/],
    ['expiry', '9/30', /like 09\/30/],
    ['expiry', '05/26', /over/],
    ['expiry', '12/1999', /like 09\/30/],
    ['cvv', '', /3 digits/],
    ['cvv', '12', /3 digits/],
    ['cvv', '12a', /3 digits/],
    ['name', 'a'.repeat(101), /100/],
  ] as const) {
    test(`${field} ${value || 'empty'}`, () => {
      const result = read({ [field]: value })
      expect('errors' in result && Object.keys(result.errors)).toEqual([field])
      const fault = 'errors' in result ? result.errors[field] : undefined
      expect(fault && en.sandbox.card_faults[fault]).toMatch(words)
    })
  }
})

describe('a card of the table', () => {
  for (const [number, ending, card_type] of [
    ['4000000000000002', 'card_not_honoured', 'Visa'],
    ['5105105105105100', 'card_no_funds', 'Mastercard'],
    ['4000000000000069', 'card_expired', 'Visa'],
    ['4000000000000127', 'card_wrong_cvv', 'Visa'],
    ['4000000000000119', 'card_error_then_paid', 'Visa'],
    ['4242424242424242', '3ds', 'Visa'],
    ['4111111111111111', 'card_approved', 'Visa'],
    ['5555555555554444', 'card_approved', 'Mastercard'],
  ] as const) {
    test(`${number}: ${ending}`, () => {
      expect(read({ number })).toEqual({ ending, card: { card_type, card_last4: number.slice(-4) } })
      expect(read({ number, cvv: '124' })).toMatchObject({ ending: 'card_wrong_cvv' })
    })
  }

  test('is valid until the last day of its month, however the date is written', () => {
    for (const expiry of ['06/26', '06/2026', '06 / 26', '0626'])
      expect(read({ expiry })).toMatchObject({ ending: 'card_approved' })
  })

  test('has a number that passes the Luhn check', () => {
    for (const { number } of testCards) expect(read({ number }), number).toHaveProperty('ending')
  })
})
