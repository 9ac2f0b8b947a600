import { describe, expect, test } from 'vitest'
import { noMoneyBack } from '../../../src/core/payment/change.ts'
import type { DisputeRecord, ReversalRecord } from '../../../src/core/payment/change.ts'
import {
  type ChargeState,
  decideRefundAmount,
  exceedsCharge,
  isWhole,
  leftToRefund,
} from '../../../src/core/refund/ceiling.ts'
import { holdsAmount, refundSources, refundStates } from '../../../src/core/refund/refund.ts'
import { aRefund } from '../../support/payments/refundRows.ts'
import { anAttempt, aPayment, noon } from '../../support/payments/rows.ts'
import { random } from '../../support/random.ts'

const paying = (changed: Partial<ChargeState> = {}, charged: bigint | null = 2500n): ChargeState => ({
  payment: aPayment({ paid_attempt_id: 'ama0000000first' }),
  attempt: anAttempt({ state: 'paid', charged }),
  refunds: [],
  moneyBack: noMoneyBack,
  ...changed,
})
const reversal = (amount: bigint, refund_reference?: string) =>
  ({ reversal_id: 'X', amount, refund_reference }) as ReversalRecord
const dispute = (state: DisputeRecord['state'], amount: bigint) =>
  ({ dispute_id: 'D', state, amount }) as DisputeRecord

describe('what is left', () => {
  const other = { payment: aPayment({ paid_attempt_id: 'another' }) }
  for (const [what, charge, payment, surplus, fee] of [
    ['a paying charge', paying(), 2500n, 0n, 0n],
    ['a provider that reports no charged amount', paying({}, null), 2500n, 0n, 0n],
    ['a fee that the customer bore', paying({}, 2550n), 2500n, 0n, 50n],
    [
      'a surplus above the fee',
      paying({ attempt: anAttempt({ state: 'paid', charged: 2650n, fee: 50n }) }),
      2500n,
      100n,
      50n,
    ],
    ['a duplicate', paying(other), 0n, 2500n, 0n],
    [
      'another amount',
      paying({ ...other, attempt: anAttempt({ state: 'disputed', charged: 2600n }) }),
      0n,
      2600n,
      0n,
    ],
    ['a pending refund', paying({ refunds: [aRefund({ state: 'pending' })] }), 1500n, 0n, 0n],
    ['an unknown refund', paying({ refunds: [aRefund({ state: 'unknown' })] }), 1500n, 0n, 0n],
    ['a failed refund', paying({ refunds: [aRefund({ state: 'failed' })] }), 2500n, 0n, 0n],
    ['a refund of another charge', paying({ refunds: [aRefund({ attempt_id: 'another' })] }), 2500n, 0n, 0n],
    ['a reversal', paying({ moneyBack: { reversals: [reversal(700n)], disputes: [] } }), 1800n, 0n, 0n],
    [
      'a reversal that is our refund',
      paying({ moneyBack: { reversals: [reversal(700n, 'ours')], disputes: [] } }),
      2500n,
      0n,
      0n,
    ],
    [
      'an open dispute',
      paying({ moneyBack: { reversals: [], disputes: [dispute('open', 2000n)] } }),
      500n,
      0n,
      0n,
    ],
    [
      'a lost dispute',
      paying({ moneyBack: { reversals: [], disputes: [dispute('lost', 2500n)] } }),
      0n,
      0n,
      0n,
    ],
    [
      'a won dispute',
      paying({ moneyBack: { reversals: [], disputes: [dispute('won', 2500n)] } }),
      2500n,
      0n,
      0n,
    ],
    [
      'a dispute and a reversal of the same money',
      paying({ moneyBack: { reversals: [reversal(2500n)], disputes: [dispute('lost', 2500n)] } }, 2550n),
      0n,
      0n,
      0n,
    ],
  ] as const)
    test(what, () => {
      const left = refundSources.map(source => leftToRefund(source, charge))
      expect(left).toEqual([payment, surplus, fee])
    })
})

describe('a decision', () => {
  const terms = { hasPartial: true }
  test('an attempt that took no money', () => {
    const unpaid = paying({ attempt: anAttempt({ state: 'failed' }) })
    expect(decideRefundAmount(1n, 'payment', unpaid, terms, noon)).toEqual({ fault: 'not_paid' })
  })
  test('left: everything; nothing left is refused', () => {
    expect(decideRefundAmount('left', 'payment', paying(), terms, noon)).toEqual({ amount: 2500n })
    const refunds = [aRefund({ amount: 2500n })]
    const refused = { fault: 'more_than_left', left: 0n }
    expect(decideRefundAmount('left', 'payment', paying({ refunds }), terms, noon)).toEqual(refused)
  })
  test('zero and negative amounts are refused', () => {
    for (const amount of [0n, -1n])
      expect(decideRefundAmount(amount, 'payment', paying(), terms, noon)).toMatchObject({
        fault: 'more_than_left',
      })
  })
  test('whole: the charge, and nothing of it before', () => {
    expect(isWhole(2500n, paying())).toBe(true)
    expect(isWhole(2500n, paying({}, 2550n))).toBe(false)
    const own = aRefund({ amount: 2500n })
    expect(isWhole(2500n, paying({ refunds: [own] }), own)).toBe(true)
    expect(isWhole(2500n, paying({ refunds: [own] }))).toBe(false)
  })
})

const upTo = (most: number) => BigInt(Math.floor(random() * most))
const sumOf = (all: readonly { amount: bigint }[]) => all.reduce((sum, { amount }) => sum + amount, 0n)

// Random charges and requests: whatever is accepted, all money that went back or may go back is at most the charge.
test('refunds that hold their amount, reversals and disputes never exceed the charge by a new refund', () => {
  for (let round = 0; round < 3000; round++) {
    const isPaying = random() < 0.6
    let charge = paying(
      {
        payment: aPayment({ paid_attempt_id: isPaying ? 'ama0000000first' : 'another' }),
        moneyBack: {
          reversals: random() < 0.3 ? [reversal(1n + upTo(2600))] : [],
          disputes:
            random() < 0.3
              ? [dispute((['open', 'won', 'lost'] as const)[Number(upTo(3))] ?? 'open', 1n + upTo(2600))]
              : [],
        },
      },
      random() < 0.3 ? 2500n + upTo(200) : 2500n,
    )
    for (let step = 0; step < 8; step++) {
      const source = refundSources[Number(upTo(3))] ?? 'payment'
      const amount = random() < 0.2 ? 'left' : 1n + upTo(1500)
      const decided = decideRefundAmount(amount, source, charge, { hasPartial: true }, noon)
      if ('fault' in decided) continue
      const state = refundStates[Number(upTo(refundStates.length))] ?? 'requested'
      const refund = aRefund({ amount: decided.amount, source, state, refund_reference: `r${step}` })
      charge = { ...charge, refunds: [...charge.refunds, refund] }
      const held = sumOf(charge.refunds.filter(holdsAmount))
      const gone =
        sumOf(charge.moneyBack.reversals) +
        sumOf(charge.moneyBack.disputes.filter(one => one.state !== 'won'))
      expect(held + gone).toBeLessThanOrEqual(charge.attempt.charged ?? 0n)
      expect(exceedsCharge(charge)).toBe(false)
    }
  }
})
