import { expect, test } from 'vitest'
import { decideCloseTask } from '../../../src/core/payment/closeTask.ts'
import { after, anAttempt, aPayment, minutes } from '../../support/payments/rows.ts'

const now = after(minutes(10))
const kindsOf = (events: readonly { kind: string }[]) => events.map(({ kind }) => kind)

for (const [kind, state, gaveUp, isAskedOn] of [
  ['refund', 'paid', false, false],
  ['refund', 'pending', false, true],
  ['other_order', 'unknown', false, true],
  ['not_recorded', 'pending', false, true],
  ['amount_mismatch', 'paid', false, false], // it was resolved while the person looked
  ['amount_mismatch', 'disputed', true, false],
  ['reference_taken', 'disputed', true, false],
  ['unresolved', 'unknown', true, true], // the provider may yet speak
] as const)
  test(`${kind} of an attempt that is ${state}: ${gaveUp ? 'given up' : 'as it was'}`, () => {
    const next_poll_at = state === 'paid' ? null : after(minutes(15))
    const attempt = anAttempt({ state, next_poll_at })
    const change = decideCloseTask(aPayment(), attempt, kind, 'Looked.', now)
    expect(change.gaveUp).toBe(gaveUp)
    expect(change.attempt.next_poll_at !== null).toBe(isAskedOn)
    expect(change.tasks).toEqual([])
    if (gaveUp) {
      expect([change.attempt.state, change.attempt.reason]).toEqual(['failed', 'given_up'])
      expect(change.payment.status).toBe('failed')
      expect(kindsOf(change.events)).toEqual(['task_closed', 'attempt_failed', 'status_changed'])
    } else {
      expect([change.payment, change.attempt]).toEqual([aPayment(), attempt])
      expect(kindsOf(change.events)).toEqual(['task_closed'])
    }
  })
