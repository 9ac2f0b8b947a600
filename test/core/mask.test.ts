import { expect, test } from 'vitest'
import { maskNumbers } from '../../src/core/mask.ts'

for (const [sentence, masked] of [
  ['Approved for 0241234567', 'Approved for 024 ••• 4567'],
  ['Declined by +233 24 412 3456, code 51', 'Declined by 024 ••• 3456, code 51'],
  ['no party 233244123456', 'no party 024 ••• 3456'],
  ['4084-0840-8408-4081 was refused', '408 ••• 4081 was refused'],
  ['wallet 1234567', 'wallet •••'],
  ['code 51, in 30 seconds', 'code 51, in 30 seconds'],
] as const)
  test(`nobody's number stands in a sentence: ${sentence}`, () => expect(maskNumbers(sentence)).toBe(masked))
