import { expect, test } from 'vitest'
import { applyReply } from '../../../src/core/payment/applyReply.ts'
import { type AttemptState, attemptStates } from '../../../src/core/payment/attempt.ts'
import { decideSubmit as decide, type Submission } from '../../../src/core/payment/customerActs.ts'
import type { Step } from '../../../src/core/provider/paymentMethod.ts'
import type { SanitizedReply } from '../../../src/core/provider/reply.ts'
import * as rows from '../../support/payments/rows.ts'
import {
  after,
  anAttempt,
  aPayment,
  minutes,
  noon,
  seconds,
  replyContext,
} from '../../support/payments/rows.ts'

const step: Step = { name: 'otp', fields: [{ name: 'otp', kind: 'digits' }] }
const asking = { state: 'needs_input', step, submits: 2 } as const
const page = { number: 1, submits: 2 }
const later = after(seconds(30))
// Its waits have a test of their own: see submissionLimit.test.ts.
const submit = (...given: Parameters<typeof decide>) => decide(...given) as Submission | undefined

test('what was typed closes the step, is counted, and is asked about when its carrier may have died', () => {
  const submitted = submit(aPayment(), [anAttempt(asking)], page, {}, later)
  expect(submitted).toMatchObject({
    step: 'otp',
    attempt: { state: 'pending', step: null, submits: 3, submitted_at: later, updated_at: later },
    events: [{ kind: 'attempt_submitted', cause: 'customer', reason: 'otp', at: later }],
  })
  expect(submitted?.attempt.next_poll_at).toEqual(after(seconds(8), later))
})

test('where the provider takes its time over a step, nobody asks before', () => {
  const { attempt } = submit(aPayment(), [anAttempt(asking)], page, { startTimeoutMs: 30_000 }, later) ?? {}
  expect(attempt?.next_poll_at).toEqual(after(seconds(33), later))
})

for (const [what, payment, attempt, typed] of [
  ['a page from before what was typed last', {}, {}, { number: 1, submits: 1 }],
  ['a page that nobody can have yet', {}, {}, { number: 1, submits: 3 }],
  ['the page of another attempt', {}, {}, { number: 2, submits: 2 }],
  ['a wish to cancel', { cancel_requested_at: noon }, {}, page],
  ['a payment that is paid by now', { status: 'paid' }, {}, page],
  ['one that was cancelled', { status: 'cancelled' }, {}, page],
  ['one that failed', { status: 'failed' }, {}, page],
  ['an attempt that was given up', {}, { gave_up_at: noon, gave_up_for: 'method' }, page],
  ['a step that is gone', {}, { step: null }, page],
] as const)
  test(`${what}: nothing is carried on`, () => {
    const attempts = [anAttempt({ ...asking, ...attempt })]
    expect(submit(aPayment(payment), attempts, typed, {}, later)).toBeUndefined()
  })

for (const state of attemptStates.filter(one => one !== 'needs_input'))
  test(`an attempt that is ${state} asks for nothing`, () => {
    expect(submit(aPayment(), [anAttempt({ ...asking, state })], page, {}, later)).toBeUndefined()
  })

test('a payment without attempts asks for nothing', () => {
  expect(submit(aPayment(), [], page, {}, later)).toBeUndefined()
})

test('a second click finds the step closed', () => {
  const { attempt } = submit(aPayment(), [anAttempt(asking)], page, {}, later) ?? {}
  expect(attempt && submit(aPayment(), [attempt], page, {}, later)).toBeUndefined()
})

// What a reply makes of an attempt that asks: by what is asked now, and by what was asked before the customer typed.
const asks = { state: 'pending', step } as const
const again = { state: 'pending', step: { ...step, text: 'That code was wrong.' } } as const
const table: [string, SanitizedReply, now: AttemptState, before: AttemptState][] = [
  ['the step', asks, 'needs_input', 'pending'],
  ['the step, with other words', again, 'needs_input', 'pending'],
  ['pending', rows.pending, 'pending', 'pending'],
  ['silence', rows.unclear, 'pending', 'pending'],
  ['absent', rows.absent, 'pending', 'pending'],
  ['a no', rows.no, 'failed', 'failed'],
  ['a yes', rows.yes, 'paid', 'paid'],
  ['another amount', rows.wrong, 'disputed', 'disputed'],
]
for (const [what, reply, now, before] of table)
  for (const [when, submits, state] of [
    ['to a question since', 3, now],
    ['to a question from before', 2, before],
  ] as const)
    test(`after what was typed, ${what} ${when}: ${state}`, () => {
      const { attempt } = submit(aPayment(), [anAttempt(asking)], page, {}, noon) ?? {}
      if (!attempt) throw new Error('nothing was submitted')
      const heard = applyReply(aPayment(), attempt, reply, later, {
        ...replyContext,
        submits,
        askedAt: later,
      })
      expect(heard.attempt.state).toBe(state)
      expect(heard.attempt.step).toEqual(state === 'needs_input' && 'step' in reply ? reply.step : null)
    })

test('what was sent lives from the last step on', () => {
  const { attempt } =
    submit(aPayment(), [anAttempt({ ...asking, polls: 40 })], page, {}, after(minutes(4))) ?? {}
  if (!attempt) throw new Error('nothing was submitted')
  const now = after(minutes(8.5))
  const heard = applyReply(aPayment(), attempt, rows.pending, now, {
    ...replyContext,
    submits: 3,
    askedAt: now,
  })
  expect(heard.attempt.next_poll_at).toEqual(after(minutes(9) + seconds(1)))
})
