import { expect, test } from 'vitest'
import { isToken, newAttemptId, newMerchantId, newToken } from '../../src/runtime/ids.ts'

const letters = 32
const randomLetters = 26 // of five bits each

// Each place takes every letter, so none is worth less than its five bits; and nothing comes twice.
function expectRandom(ids: readonly string[]) {
  expect(new Set(ids).size).toBe(ids.length)
  for (let place = 0; place < randomLetters; place++)
    expect(new Set(ids.map(id => id.at(-1 - place))).size).toBe(letters)
}

test('the address of a payment has 130 random bits, whatever is known of the merchant and the time', () => {
  const merchant_id = newMerchantId()
  const now = new Date()
  const tokens = Array.from({ length: 20_000 }, () => newToken(merchant_id, now))
  expect(tokens.every(isToken)).toBe(true)
  expectRandom(tokens)
})

test('the address that a provider calls back at has as many', () => {
  const merchant_id = newMerchantId()
  expectRandom(Array.from({ length: 20_000 }, () => newAttemptId(merchant_id)))
})
