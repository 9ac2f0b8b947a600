import { expect, test } from 'vitest'
import { maySendAgain, sentAgain } from '../../../src/core/payment/attempt.ts'
import { after, anAttempt, aPayment, minutes, noon, seconds } from '../../support/payments/rows.ts'

const young = after(seconds(10))

// May it leave once more: where starting twice is harmless, and where it is not.
for (const [what, changed, harmless, harmful] of [
  ['started, and nobody knows whether it left', {}, true, false],
  ['without a clear answer', { state: 'unknown' }, true, false],
  ['sent again already', { state: 'unknown', resent_at: noon, sends: 2 }, false, false],
  ['acknowledged', { state: 'pending' }, false, false],
  ['acknowledged in words that nobody knows', { state: 'unknown', acknowledged_at: noon }, false, false],
  ['disputed', { state: 'disputed' }, false, false],
  ['given up', { state: 'unknown', gave_up_at: noon }, false, false],
  ['given up, and known not to have left', { state: 'not_sent', gave_up_at: noon }, false, false],
  ['failed', { state: 'failed' }, false, false],
  ['paid', { state: 'paid' }, false, false],
  ['known not to have left', { state: 'not_sent' }, true, true],
  ['known not to have left, for the ninth time', { state: 'not_sent', sends: 9 }, true, true],
  [
    'known not to have left, and acknowledged all the same',
    { state: 'not_sent', acknowledged_at: noon },
    false,
    false,
  ],
] as const)
  test(`an order that is ${what}`, () => {
    expect(maySendAgain(aPayment(), anAttempt(changed), true, young)).toBe(harmless)
    expect(maySendAgain(aPayment(), anAttempt(changed), false, young)).toBe(harmful)
  })

for (const [what, payment, now] of [
  ['a minute', {}, after(minutes(1))],
  ['a wish to cancel', { cancel_requested_at: noon }, young],
  ['the end', { status: 'paid' }, young],
] as const)
  test(`nothing leaves after ${what}`, () => {
    for (const state of ['started', 'unknown', 'not_sent'] as const)
      expect(maySendAgain(aPayment(payment), anAttempt({ state }), true, now)).toBe(false)
  })

test('what is sent again is not known to be here any more', () => {
  const sending = sentAgain(anAttempt({ state: 'not_sent' }), young)
  expect(sending).toMatchObject({ state: 'started', sends: 2, resent_at: null })
  expect(maySendAgain(aPayment(), sending, false, young)).toBe(false)
  expect(sentAgain(anAttempt({ state: 'unknown' }), young)).toMatchObject({ resent_at: young, sends: 2 })
})
