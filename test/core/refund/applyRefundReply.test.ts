import { describe, expect, test } from 'vitest'
import { noMoneyBack } from '../../../src/core/payment/change.ts'
import type { SanitizedRefundReply } from '../../../src/core/provider/refundOrder.ts'
import { applyRefundReply, type RefundReplyContext } from '../../../src/core/refund/applyRefundReply.ts'
import { matchReversals } from '../../../src/core/refund/matchReversals.ts'
import { recordRefund } from '../../../src/core/refund/recordRefund.ts'
import {
  maySendRefund,
  moveRefund,
  type Refund,
  refundMoves,
  type RefundState,
  refundStates,
} from '../../../src/core/refund/refund.ts'
import { nextRefundPoll } from '../../../src/core/refund/refundSchedule.ts'
import { aRefund } from '../../support/payments/refundRows.ts'
import { after, anAttempt, aPayment, hours, minutes, noon, seconds } from '../../support/payments/rows.ts'

const later = after(minutes(10))
const context: RefundReplyContext = {
  visibleWithinMs: undefined,
  timing: {},
  askedAt: later,
  sends: 1,
  sentBefore: null,
}
const yes: SanitizedRefundReply = {
  state: 'succeeded',
  refund: 'ama0000000refund',
  amount: 1000n,
  currency: 'GHS',
  provider_ref: 'R-1',
}
const apply = (refund: Refund, reply: SanitizedRefundReply, changed: Partial<RefundReplyContext> = {}) =>
  applyRefundReply(
    {
      payment: aPayment({ status: 'paid', paid_attempt_id: 'ama0000000first' }),
      attempt: anAttempt({ state: 'paid', charged: 2500n }),
      refunds: [refund],
      moneyBack: noMoneyBack,
      openTasks: [],
    },
    refund,
    reply,
    later,
    { ...context, ...changed },
  )

const askAbsent = (changed: Partial<RefundReplyContext>, refund = aRefund()) =>
  apply(refund, { state: 'absent' }, changed)

describe('moves', () => {
  for (const from of refundStates)
    for (const to of refundStates)
      test(`${from} to ${to}`, () =>
        expect(moveRefund(aRefund({ state: from }), to, '', noon)?.state).toBe(
          refundMoves[from].includes(to) ? to : undefined,
        ))
})

describe('what each reply makes of each state', () => {
  const replies: Record<string, SanitizedRefundReply> = {
    yes,
    pending: { state: 'pending', provider_ref: 'R-1' },
    no: { state: 'failed', words: 'No.' },
    acts: { state: 'needs_action', words: 'Bank details.' },
    unclear: { state: 'unknown', words: 'HTTP 503' },
    absent: { state: 'absent' },
    notSent: { state: 'not_sent', words: 'ECONNREFUSED' },
    other: { state: 'other_refund', words: 'Another amount.' },
  }
  // In the order: requested, pending, unknown, needs_action, succeeded, failed.
  const table: Record<string, readonly RefundState[]> = {
    yes: ['succeeded', 'succeeded', 'succeeded', 'succeeded', 'succeeded', 'succeeded'],
    pending: ['pending', 'pending', 'pending', 'pending', 'succeeded', 'failed'],
    no: ['failed', 'failed', 'failed', 'failed', 'succeeded', 'failed'],
    acts: ['needs_action', 'needs_action', 'needs_action', 'needs_action', 'succeeded', 'failed'],
    unclear: ['unknown', 'pending', 'unknown', 'needs_action', 'succeeded', 'failed'],
    absent: ['unknown', 'pending', 'unknown', 'needs_action', 'succeeded', 'failed'],
    notSent: ['requested', 'pending', 'unknown', 'needs_action', 'succeeded', 'failed'],
    other: ['unknown', 'unknown', 'unknown', 'needs_action', 'succeeded', 'failed'],
  }
  for (const [name, expected] of Object.entries(table))
    test(name, () => {
      const states = refundStates.map(
        state => apply(aRefund({ state }), replies[name] as SanitizedRefundReply).refund.state,
      )
      expect(states).toEqual(expected)
    })

  test('the same reply again changes nothing', () => {
    for (const reply of Object.values(replies)) {
      const once = apply(aRefund(), reply)
      const twice = apply(once.refund, reply)
      expect({ ...twice.refund, next_poll_at: null }).toEqual({ ...once.refund, next_poll_at: null })
      expect(twice.events).toEqual([])
    }
  })

  test('a refusal of one of several sendings is no failure', () => {
    const refused: SanitizedRefundReply = { state: 'failed', words: 'No.', isRefused: true }
    expect(apply(aRefund(), refused).refund.state).toBe('failed')
    expect(apply(aRefund({ sends: 2 }), refused, { sends: 2, sentBefore: noon }).refund.state).toBe('unknown')
    expect(apply(aRefund({ sends: 2 }), refused, { sends: 1 }).refund.state).toBe('unknown')
    expect(apply(aRefund({ acknowledged_at: noon }), refused).refund.state).toBe('unknown')
    // The provider did not have the earlier sending when it would have shown it.
    const again = { sends: 2, sentBefore: noon, visibleWithinMs: minutes(5) }
    expect(apply(aRefund({ sends: 2, state: 'unknown' }), refused, again).refund.state).toBe('failed')
    const soon = { ...again, visibleWithinMs: minutes(15) }
    const latest = aRefund({ sends: 2, state: 'unknown', sent_at: after(minutes(9)) })
    expect(apply(latest, refused, soon).refund).toMatchObject({ state: 'unknown', sent_at: noon })
  })

  test('not sent: it may be sent again, unless an earlier sending may have arrived', () => {
    const reply: SanitizedRefundReply = { state: 'not_sent', words: '' }
    expect(apply(aRefund(), reply).refund).toMatchObject({ state: 'requested', sent_at: null })
    const second = apply(aRefund({ sends: 2 }), reply, { sends: 2, sentBefore: after(seconds(-9)) }).refund
    expect(second).toMatchObject({ state: 'unknown', sent_at: after(seconds(-9)) })
    expect(apply(aRefund({ sends: 2 }), reply, { sends: 1 }).refund).toMatchObject({ sent_at: noon })
  })

  test('not found is final only if the provider shows every refund by then', () => {
    expect(askAbsent({ visibleWithinMs: minutes(5) }).refund.state).toBe('failed')
    expect(askAbsent({ visibleWithinMs: minutes(15) }).refund.state).toBe('unknown')
    expect(askAbsent({ visibleWithinMs: 0, askedAt: after(seconds(2)) }).refund.state).toBe('unknown') // still being sent
    expect(askAbsent({ visibleWithinMs: minutes(5) }, aRefund({ acknowledged_at: noon })).refund.state).toBe(
      'unknown',
    )
    expect(askAbsent({}).tasks).toMatchObject([{ kind: 'refund_unclear' }])
    expect(askAbsent({ askedAt: after(seconds(2)) }).tasks).toEqual([])
  })

  test('an account without refunds: made by hand if it was never sent, else a task', () => {
    const reply: SanitizedRefundReply = { state: 'not_set_up', words: 'No refunds.' }
    const unsent = apply(aRefund({ sent_at: null, sends: 0 }), reply)
    expect(unsent.refund).toMatchObject({ state: 'needs_action', kind: 'manual', next_poll_at: null })
    expect(unsent.tasks).toMatchObject([{ kind: 'refund_needs_action' }])
    const sent = apply(aRefund(), reply)
    expect(sent.refund.state).toBe('requested')
    expect(sent.tasks).toMatchObject([{ kind: 'not_set_up' }])
  })
})

describe('sending', () => {
  for (const [what, refund, isIdempotent, may] of [
    ['never sent', aRefund({ sent_at: null }), false, true],
    ['sent, not idempotent', aRefund(), false, false],
    ['sent, idempotent', aRefund(), true, true],
    ['acknowledged', aRefund({ acknowledged_at: noon }), true, false],
    ['pending', aRefund({ state: 'pending' }), true, false],
    ['failed', aRefund({ state: 'failed', sent_at: null }), true, false],
    ['by hand', aRefund({ kind: 'manual', sent_at: null }), true, false],
  ] as const)
    test(what, () => expect(maySendRefund(refund, isIdempotent)).toBe(may))
})

describe('the next poll', () => {
  for (const [what, refund, at, next] of [
    ['succeeded', aRefund({ state: 'succeeded' }), noon, null],
    ['by hand', aRefund({ state: 'needs_action', kind: 'manual' }), noon, null],
    ['soon', aRefund(), noon, after(seconds(1))],
    ['after a day', aRefund({ state: 'unknown', polls: 99 }), after(hours(24)), after(hours(25))],
    ['failed', aRefund({ state: 'failed', ended_at: noon }), noon, after(minutes(2))],
    ['failed, never sent', aRefund({ state: 'failed', ended_at: noon, sent_at: null }), noon, null],
    ['failed a day ago', aRefund({ state: 'failed', ended_at: noon }), after(hours(24)), null],
  ] as const)
    test(what, () => expect(nextRefundPoll(refund, at)).toEqual(next))
})

describe('recording by hand', () => {
  for (const state of refundStates)
    test(state, () => {
      const outcome = { done: 'succeeded', at: noon, reference: 'BANK' } as const
      const recorded = recordRefund(aRefund({ state }), { by: 'Esi', outcome }, later)
      expect(recorded?.state).toBe(state === 'unknown' || state === 'needs_action' ? 'succeeded' : undefined)
    })
})

describe('what the provider lists', () => {
  const listed = [{ id: 'R-1', amount: 1000n, words: '' }]
  for (const [what, refund, kind] of [
    ['by its id', aRefund({ state: 'pending', provider_ref: 'R-1' }), 'ours'],
    ['by its id, succeeded before', aRefund({ state: 'succeeded', provider_ref: 'R-1' }), 'ours'],
    ['by its id, failed before', aRefund({ state: 'failed', provider_ref: 'R-1' }), 'ours'],
    [
      'by the reference that was recorded',
      aRefund({ state: 'succeeded', recorded_reference: 'R-1' }),
      'ours',
    ],
    ['sent, without an id', aRefund({ state: 'unknown' }), 'deferred'],
    ['by hand, waiting', aRefund({ kind: 'manual', state: 'needs_action', sent_at: null }), 'deferred'],
    ['never sent', aRefund({ sent_at: null }), 'reversals'],
    ['failed, without an id', aRefund({ state: 'failed' }), 'reversals'],
    ['another id', aRefund({ state: 'pending', provider_ref: 'R-2' }), 'reversals'],
  ] as const)
    test(what, () => {
      const { ours, deferred, reversals } = matchReversals(listed, [refund])
      expect([ours.length, deferred.length, reversals.length]).toEqual(
        ['ours', 'deferred', 'reversals'].map(one => (one === kind ? 1 : 0)),
      )
    })

  test('by our reference', () => {
    const named = [{ id: 'R-9', amount: 1000n, words: '', refund_reference: 'ama0000000refund' }]
    expect(matchReversals(named, [aRefund()]).ours).toHaveLength(1)
  })

  test('twice by our reference: the one whose id is not stored is a reversal', () => {
    const twice = ['R-1', 'R-9'].map(id => ({
      id,
      amount: 1000n,
      words: '',
      refund_reference: 'ama0000000refund',
    }))
    const { ours, reversals } = matchReversals(twice, [aRefund({ state: 'pending', provider_ref: 'R-1' })])
    expect([ours.map(one => one.reversal.id), reversals.map(one => one.id)]).toEqual([['R-1'], ['R-9']])
  })
})
