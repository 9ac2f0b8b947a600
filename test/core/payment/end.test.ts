import { expect, test } from 'vitest'
import type { AttemptState } from '../../../src/core/payment/attempt.ts'
import { decideCancel } from '../../../src/core/payment/customerActs.ts'
import { decideExpiry } from '../../../src/core/payment/expiry.ts'
import type { Status } from '../../../src/core/payment/payment.ts'
import { after, anAttempt, aPayment, hours, noon } from '../../support/payments/rows.ts'

type Try = AttemptState | 'none'
const unresolved: Try[] = ['started', 'pending', 'unknown', 'disputed']
const attemptsOf = (state: Try) => (state === 'none' ? [] : [anAttempt({ state })])

// What the customer's cancelling does, by status and latest attempt.
const cancels: [Status, Try[], 'nothing' | 'wished' | 'cancelled'][] = [
  ['paid', ['none', ...unresolved, 'paid', 'failed'], 'nothing'],
  ['cancelled', ['none', ...unresolved, 'paid', 'failed'], 'nothing'],
  ['failed', unresolved, 'nothing'], // does not happen: who begins is awaiting
  ['failed', ['none', 'failed'], 'cancelled'],
  ['awaiting_payment', unresolved, 'wished'], // the money may be on its way
  ['awaiting_payment', ['none', 'failed'], 'cancelled'],
]
for (const [status, tries, expected] of cancels)
  for (const state of tries)
    test(`cancelling a ${status} payment with attempt ${state}: ${expected}`, () => {
      const payment = aPayment({ status })
      const ended = decideCancel(payment, attemptsOf(state), after(1000))
      if (expected === 'nothing') return expect(ended).toBeUndefined()
      expect(ended?.payment.status).toBe(expected === 'cancelled' ? 'cancelled' : status)
      expect(ended?.payment.cancel_requested_at).toEqual(expected === 'wished' ? after(1000) : null)
      const kind = expected === 'wished' ? 'cancel_wished' : 'status_changed'
      expect(ended?.events.map(event => [event.kind, event.cause])).toEqual([[kind, 'customer']])
    })

test('a wish is recorded once', () => {
  const payment = aPayment({ cancel_requested_at: noon })
  expect(decideCancel(payment, [anAttempt()], after(1000))).toBeUndefined()
})

test('cancelled again changes nothing', () => {
  const once = decideCancel(aPayment(), [], noon)
  expect(once && decideCancel(once.payment, [], after(1000))).toBeUndefined()
})

// What the end of the time does. Everything that is not here is left alone.
const expires: [Status, Try[], hours: number, 'nothing' | 'failed'][] = [
  ['paid', ['none', 'paid', ...unresolved], 2, 'nothing'],
  ['cancelled', ['none', 'failed'], 2, 'nothing'],
  ['failed', ['none', 'failed'], 2, 'nothing'],
  ['awaiting_payment', unresolved, 2, 'nothing'], // never over an attempt whose outcome is unknown
  ['awaiting_payment', unresolved, 24 * 365, 'nothing'],
  ['awaiting_payment', ['none', 'failed'], 0.999, 'nothing'],
  ['awaiting_payment', ['none', 'failed'], 1, 'failed'],
]
for (const [status, tries, age, expected] of expires)
  for (const state of tries)
    test(`after ${age} of 1 hour, a ${status} payment with attempt ${state}: ${expected}`, () => {
      const ended = decideExpiry(aPayment({ status }), attemptsOf(state), after(hours(age)))
      if (expected === 'nothing') return expect(ended).toBeUndefined()
      expect(ended?.payment).toMatchObject({
        status: 'failed',
        status_reason: expect.stringContaining('expired'),
      })
      expect(ended?.events).toMatchObject([
        {
          kind: 'status_changed',
          cause: 'clock',
          from_status: status,
          to_status: 'failed',
          attempt_id: null,
        },
      ])
    })

test('one unresolved attempt among many failed ones holds the end off', () => {
  const many = [
    anAttempt({ state: 'failed' }),
    anAttempt({ state: 'pending' }),
    anAttempt({ state: 'failed' }),
  ]
  expect(decideExpiry(aPayment(), many, after(hours(2)))).toBeUndefined()
})
