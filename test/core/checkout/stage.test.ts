import { expect, test } from 'vitest'
import { stageOf } from '../../../src/core/checkout/stage.ts'
import { anAttempt, aPayment, noon } from '../../support/payments/rows.ts'

const failure = anAttempt({ state: 'failed' })
const failed = { status: 'failed' } as const
const wished = { cancel_requested_at: noon }

for (const [words, payment, attempts, against, stage] of [
  ['paid', { status: 'paid' }, [], 'paid', 'paid'],
  ['paid late, after a wish to cancel', { status: 'paid', ...wished }, [], 'paid', 'paid'],
  ['paid, with another on its way', { status: 'paid' }, [anAttempt()], 'paid', 'paid'],
  ['cancelled', { status: 'cancelled' }, [failure], 'cancelled', 'cancelled'],
  ['wished to cancel', wished, [anAttempt()], 'cancelled', 'cancelled'],
  ['one started', {}, [failure, anAttempt()], 'unresolved', 'wait'],
  ['one pending', {}, [anAttempt({ state: 'pending' })], 'unresolved', 'wait'],
  ['one unknown', {}, [anAttempt({ state: 'unknown' })], 'unresolved', 'wait'],
  ['one disputed', {}, [anAttempt({ state: 'disputed' })], 'unresolved', 'disputed'],
  ['one that asks for a code', {}, [anAttempt({ state: 'needs_input', submits: 4 })], 'unresolved', 'step'],
  [
    'one that asks for a sixth code',
    {},
    [anAttempt({ state: 'needs_input', submits: 5 })],
    'unresolved',
    'wait',
  ],
  ['over time, before the worker came', {}, [], 'expired', 'expired'],
  ['over time', failed, [], 'expired', 'expired'],
  ['failed, then over time', failed, [failure], 'expired', 'expired'],
  ['merchant switched off', {}, [], 'closed', 'closed'],
  ['failed, one try only', failed, [failure], 'no_retry', 'over'],
  ['failed too often', failed, [failure], 'too_many', 'over'],
  ['failed a moment ago', failed, [failure], 'too_soon', 'failed'],
  ['failed', failed, [failure], undefined, 'failed'],
  ['nothing yet', {}, [], undefined, 'choose'],
] as const) {
  test(`${words}: ${stage}`, () => expect(stageOf(aPayment(payment), attempts, against)).toBe(stage))
}
