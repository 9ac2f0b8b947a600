import { expect, test } from 'vitest'
import { reference } from '../../src/core/payment/reference.ts'
import { isToken, newAttemptId, newMerchantId, newReference, newToken } from '../../src/runtime/ids.ts'

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

const timePart = (text: string) => text.replaceAll('-', '').slice(0, 11)
const noon = new Date('2026-03-02T12:00:00Z').getTime()
for (const [words, steps, times] of [
  ['a clock that goes on', [0, 1, 2], [0, 1, 2]],
  ['many in one millisecond', [0, 0, 0], [0, 0, 0]],
  ['a clock that is set back by a second', [0, -1000, -999], [0, 0, 0]],
  ['a clock that was a year ahead', [0, 365 * 86_400_000, 1, 1], [0, 365 * 86_400_000, 1, 1]],
] as const)
  test(`references of ${words}`, () => {
    newReference(new Date(noon - 86_400_000)) // so that the case before has no effect
    const made = steps.map(ms => newReference(new Date(noon + ms)))
    expect(made.map(timePart)).toEqual(times.map(ms => timePart(reference(noon + ms, 0))))
    expect(new Set(made).size).toBe(made.length)
  })
