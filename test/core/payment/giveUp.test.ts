import { expect, test } from 'vitest'
import { applyReply } from '../../../src/core/payment/applyReply.ts'
import { type AttemptState, attemptStates, isUnresolved } from '../../../src/core/payment/attempt.ts'
import { decideCloseTask } from '../../../src/core/payment/closeTask.ts'
import { decideGiveUp } from '../../../src/core/payment/customerActs.ts'
import { whyNotBegin } from '../../../src/core/payment/mayStart.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import {
  after,
  anAttempt,
  aPayment,
  hours,
  minutes,
  no,
  noon,
  notSent,
  seconds,
  withdrawn,
  replyContext,
  yes,
} from '../../support/payments/rows.ts'

const soon = after(seconds(30))
const wish = { number: 1, gave_up_for: 'number' } as const
const wanted = (changed: Partial<Payment> = {}, state: AttemptState = 'pending') =>
  decideGiveUp(aPayment(changed), [anAttempt({ state })], wish, soon)

for (const state of attemptStates) {
  const can = isUnresolved({ state }) && state !== 'disputed'
  test(`an attempt that is ${state} ${can ? 'is given up by a wish alone' : 'cannot be given up'}`, () => {
    const given = wanted({}, state)
    if (!can) return expect(given).toBeUndefined()
    expect(given?.attempt).toMatchObject({ state, gave_up_at: soon, gave_up_for: 'number', ended_at: null })
    expect(given?.events).toMatchObject([
      { kind: 'attempt_given_up', cause: 'customer', attempt_id: 'ama0000000first', to_status: null },
    ])
  })
}

for (const [what, attempts, payment] of [
  ['given up before', [anAttempt({ gave_up_at: noon, gave_up_for: 'method' })], {}],
  ['of an old page', [anAttempt({ state: 'failed' }), anAttempt({ number: 2 })], {}],
  ['of nobody', [], {}],
  ['of a payment that is cancelled', [anAttempt()], { cancel_requested_at: noon }],
  ['of a payment that another one has paid', [anAttempt()], { status: 'paid' }],
] as const)
  test(`one ${what} is left alone`, () =>
    expect(decideGiveUp(aPayment(payment), attempts, wish, soon)).toBeUndefined())

const gaveUp = { state: 'pending', gave_up_at: soon, gave_up_for: 'method' } as const
const later = after(minutes(1))
const shop = { active: true, settings: { retry_after_failure: false } }

for (const reply of [withdrawn, no])
  test(`${reply.state === 'failed' && reply.reason} after it was given up leaves the payment open, and the next may start`, () => {
    const { payment, attempt, events } = applyReply(aPayment(), anAttempt(gaveUp), reply, later, replyContext)
    expect([payment.status, payment.status_reason, attempt.state]).toEqual(['awaiting_payment', '', 'failed'])
    expect(events.map(({ kind }) => kind)).toEqual(['attempt_failed'])
    expect(whyNotBegin(payment, [attempt], shop, 2, later)).toBeUndefined() // one failure is the end there; this is none
  })

test('until the provider has ended it, nothing else starts', () => {
  expect(whyNotBegin(aPayment(), [anAttempt(gaveUp)], shop, 2, later)?.obstacle).toBe('unresolved')
})

test('a yes counts all the same', () => {
  const { payment, attempt } = applyReply(aPayment(), anAttempt(gaveUp), yes, later, replyContext)
  expect([payment.status, payment.late, attempt.state]).toEqual(['paid', false, 'paid'])
})

test('a wish to cancel outranks the wish to go on', () => {
  const { payment } = applyReply(
    aPayment({ cancel_requested_at: later }),
    anAttempt(gaveUp),
    no,
    later,
    replyContext,
  )
  expect(payment.status).toBe('cancelled')
})

test('what has not left us ends at once, and is not sent any more', () => {
  const { attempt, payment } = applyReply(
    aPayment(),
    anAttempt({ ...gaveUp, state: 'not_sent' }),
    notSent,
    soon,
    replyContext,
  )
  expect([attempt.state, attempt.reason, payment.status]).toEqual(['failed', 'not_sent', 'awaiting_payment'])
})

test('a person who closes the task of one that was given up leaves the payment open', () => {
  const { payment, attempt } = decideCloseTask(
    aPayment(),
    anAttempt(gaveUp),
    'unresolved',
    'Asked them.',
    after(hours(25)),
  )
  expect([payment.status, attempt.state, attempt.reason]).toEqual(['awaiting_payment', 'failed', 'given_up'])
})
