import { expect, test } from 'vitest'
import { decideBegin } from '../../../src/core/payment/customerActs.ts'
import { after, anAttempt, aPayment, minutes } from '../../support/payments/rows.ts'

const now = after(minutes(1))
const attempt = anAttempt({ created_at: now, payment_method: 'card' })

for (const [status, kinds] of [
  ['awaiting_payment', ['attempt_started']],
  ['failed', ['attempt_started', 'status_changed']], // it waits again
] as const)
  test(`a payment that is ${status} tells of its new attempt`, () => {
    const { payment, events } = decideBegin(aPayment({ status }), attempt, 'customer')
    expect(events.map(({ kind }) => kind)).toEqual(kinds)
    expect(payment).toMatchObject({ status: 'awaiting_payment', payment_method: 'card', updated_at: now })
  })
