import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { randomSeed } from '../../support/random.ts'
import { walk } from './steps.ts'

const walks = inject('isProof') ? 4000 : 500
const longest = 200
const mostRounds = 60 // a withdrawn attempt is seen in one of a thousand walks, so half of the short rounds have none

// The walks go on until each of these was seen; a walk that never reaches a state proves nothing about it.
const everything = [
  'a no that turned',
  'attempt_disputed by provider',
  'attempt_failed by provider',
  'attempt_given_up by customer',
  'attempt_not_sent by provider',
  'attempt_paid by provider',
  'attempt_pending by provider',
  'attempt_started by customer',
  'attempt_unknown by provider',
  'awaiting_payment by customer',
  'awaiting_payment by merchant',
  'cancel_wished by customer',
  'cancelled by customer',
  'cancelled by provider',
  'dispute_lost by provider',
  'dispute_opened by provider',
  'dispute_won by provider',
  'failed by clock',
  'failed by provider',
  'never_arrived',
  'overpaid by provider',
  'paid by provider',
  'reversed',
  'reversed by provider',
  'task amount_mismatch',
  'task dispute_lost',
  'task dispute_opened',
  'task refund',
  'task reversed',
  'task unresolved',
  'went on after giving up',
  'withdrawn',
]

test('random acts of customer, provider, network and clock: a payment moves as the table of replies says', {
  timeout: 300_000,
}, () => {
  let taken = 0
  const seen = new Set<string>()
  const numbers = fc.array(fc.nat(2 ** 31 - 1), { maxLength: longest, size: 'max' })
  const anyWay = fc.property(numbers, way => {
    taken += way.length
    expect(walk(way, seen)).toEqual([])
  })
  for (let round = 0; round < mostRounds && seen.size < everything.length; round++) {
    fc.assert(anyWay, { numRuns: walks, seed: randomSeed() }) // a failure prints the seed and the shortest walk
  }
  expect(taken).toBeGreaterThan(75 * walks)
  expect([...seen].toSorted()).toEqual(everything)
})
