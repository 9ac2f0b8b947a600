import { expect, test } from 'vitest'
import type { Attempt } from '../../../src/core/payment/attempt.ts'
import type { Status } from '../../../src/core/payment/payment.ts'
import { nextTriggerStep, type TriggerOutcome } from '../../../src/core/testing/trigger.ts'
import { anAttempt } from '../../support/payments/rows.ts'

const now = new Date('2026-03-02T09:30:00.000Z')
const inSeconds = (seconds: number) => new Date(now.getTime() + seconds * 1000)
const fresh = { status: 'awaiting_payment' as Status, expires_at: inSeconds(900) }

const first = (changes: Partial<Attempt>) => anAttempt({ number: 1, ...changes })
const givenUp = first({ state: 'failed', gave_up_at: now, ended_at: now })
const longAgo = first({ state: 'failed', gave_up_at: now, ended_at: inSeconds(-20) })
const second = (state: Attempt['state']) => anAttempt({ number: 2, state })

const stepOf = (
  outcome: TriggerOutcome,
  payment: { status: Status; expires_at: Date },
  ...attempts: Attempt[]
) => nextTriggerStep(outcome, { payment, attempts, now })

for (const [outcome, step] of [
  ['paid', { do: 'pay', number: 1, lastDigits: '000' }],
  ['failed', { do: 'pay', number: 1, lastDigits: '010' }],
  ['no_answer', { do: 'pay', number: 1, lastDigits: '099' }],
  ['late', { do: 'pay', number: 1, lastDigits: '011' }],
  ['paid_twice', { do: 'pay', number: 1, lastDigits: '011' }],
  ['cancelled', { do: 'cancel' }],
  ['expired', { do: 'expire' }],
] as const)
  test(`${outcome} of a new payment: ${step.do}`, () => expect(stepOf(outcome, fresh)).toEqual(step))

for (const outcome of ['paid', 'declined', 'cancelled', 'expired', 'wrong_amount'] as const)
  test(`${outcome} of a payment with an attempt: nothing`, () =>
    expect(stepOf(outcome, fresh, first({ state: 'pending' }))).toEqual({ do: 'nothing' }))

const over = { status: 'awaiting_payment' as Status, expires_at: now }
const failed = { status: 'failed' as Status, expires_at: now }
const paid = { status: 'paid' as Status, expires_at: inSeconds(900) }

for (const [what, step, outcome, payment, ...attempts] of [
  ['the attempt is given up', { do: 'give_up', number: 1 }, 'late', fresh, first({ state: 'pending' })],
  ['and ends', { do: 'wait' }, 'late', fresh, first({ state: 'pending', gave_up_at: now })],
  ['the payment expires', { do: 'expire' }, 'late', fresh, givenUp],
  ['and is ended by a worker', { do: 'wait' }, 'late', over, givenUp],
  ['the provider is made to change its mind', { do: 'advance', ms: 20_000 }, 'late', failed, givenUp],
  ['and is polled', { do: 'wait' }, 'late', failed, longAgo],
  ['the end', { do: 'nothing' }, 'late', paid, first({ state: 'paid' })],
  ['a second attempt', { do: 'pay', number: 2, lastDigits: '000' }, 'paid_twice', fresh, givenUp],
  ['which is paid', { do: 'wait' }, 'paid_twice', fresh, givenUp, second('pending')],
  ['and then the first', { do: 'advance', ms: 20_000 }, 'paid_twice', paid, givenUp, second('paid')],
  ['both are paid', { do: 'nothing' }, 'paid_twice', paid, first({ state: 'paid' }), second('paid')],
] as const)
  test(`${outcome}: ${what}`, () => expect(stepOf(outcome, payment, ...attempts)).toEqual(step))
