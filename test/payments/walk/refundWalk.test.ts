import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { randomSeed } from '../../support/random.ts'
import { refundRules, type RefundRules, refundWalk } from './refundWalk.ts'

const walks = inject('isProof') ? 8000 : 600
const longest = 120
const mostRounds = 20 // the rarest state is seen in one of sixty walks

// A walk that never reaches one of these proves nothing about it.
const everything = [
  'deferred',
  'failed > succeeded',
  'listed',
  'more_than_left',
  'none > requested',
  'pending > failed',
  'pending > succeeded',
  'requested > failed',
  'requested > pending',
  'requested > succeeded',
  'requested > unknown',
  'reversed',
  'sent again',
  'turned',
  'unknown > failed',
  'unknown > pending',
  'unknown > succeeded',
]

const anyWay = fc.array(fc.nat(2 ** 31 - 1), { maxLength: longest, size: 'max' })

test('random acts of merchant, provider, network and clock: what the provider moved is what refunds and ledger have', () => {
  const seen = new Set<string>()
  const property = fc.property(anyWay, way => {
    expect(refundWalk(way, seen, refundRules)).toEqual([])
  })
  for (let round = 0; round < mostRounds && seen.size < everything.length; round++)
    fc.assert(property, { numRuns: walks, seed: randomSeed() }) // a failure prints the seed and the shortest walk
  expect([...seen].toSorted()).toEqual(everything)
}, 300_000)

const { applyRefundReply, decideRefundAmount, matchReversals, transfersOf } = refundRules

// Each of these rules is broken on purpose, to show that the walks find the fault.
const broken: [words: string, changed: Partial<RefundRules>][] = [
  [
    'that a refund is sent again to a provider that would refund twice',
    { maySendRefund: ({ state }) => state === 'requested' || state === 'unknown' },
  ],
  [
    'that silence is called failed',
    {
      applyRefundReply: (subject, before, reply, now, context) =>
        applyRefundReply(
          subject,
          before,
          reply.state === 'unknown' ? { state: 'failed', words: '' } : reply,
          now,
          context,
        ),
    },
  ],
  [
    'that a refund which has not arrived yet is called failed',
    {
      applyRefundReply: (subject, before, reply, now, context) =>
        applyRefundReply(
          subject,
          before,
          reply.state === 'absent' ? { state: 'failed', words: '' } : reply,
          now,
          context,
        ),
    },
  ],
  [
    'that a success after a failure is ignored',
    {
      applyRefundReply: (subject, before, reply, now, context) =>
        applyRefundReply(
          subject,
          before,
          before.state === 'failed' ? { state: 'unknown', words: '' } : reply,
          now,
          context,
        ),
    },
  ],
  [
    'that a pending refund is not polled again',
    {
      applyRefundReply: (subject, before, reply, now, context) => {
        const decision = applyRefundReply(subject, before, reply, now, context)
        const { refund } = decision
        return refund.state === 'pending'
          ? { ...decision, refund: { ...refund, next_poll_at: null } }
          : decision
      },
    },
  ],
  [
    'that refunds under way do not hold their amount',
    {
      decideRefundAmount: (requested, source, charge, terms, now) =>
        decideRefundAmount(
          requested,
          source,
          { ...charge, refunds: charge.refunds.filter(({ state }) => state === 'succeeded') },
          terms,
          now,
        ),
    },
  ],
  [
    'that reversals do not count against the ceiling',
    {
      decideRefundAmount: (requested, source, charge, terms, now) =>
        decideRefundAmount(
          requested,
          source,
          { ...charge, moneyBack: { ...charge.moneyBack, reversals: [] } },
          terms,
          now,
        ),
    },
  ],
  [
    'that open disputes do not count against the ceiling',
    {
      decideRefundAmount: (requested, source, charge, terms, now) =>
        decideRefundAmount(
          requested,
          source,
          { ...charge, moneyBack: { ...charge.moneyBack, disputes: [] } },
          terms,
          now,
        ),
    },
  ],
  [
    'that a refund of ours is recorded as a reversal',
    { matchReversals: listed => ({ ours: [], deferred: [], reversals: [...listed] }) },
  ],
  [
    'that what may be a refund of ours is recorded as a reversal',
    {
      matchReversals: (listed, refunds) => {
        const { ours, deferred, reversals } = matchReversals(listed, refunds)
        return { ours, deferred: [], reversals: [...reversals, ...deferred] }
      },
    },
  ],
  [
    'that a failed refund is not booked back',
    {
      transfersOf: (change, settings) =>
        transfersOf(change, settings).filter(({ kind }) => kind !== 'refund_failed'),
    },
  ],
  [
    'that a refund is booked when it is requested, and not when it is made',
    {
      transfersOf: (change, settings) =>
        transfersOf(change, settings).filter(({ kind }) => kind !== 'refund_succeeded'),
    },
  ],
  [
    "that the provider's fee is not booked",
    {
      transfersOf: (change, settings) =>
        transfersOf(change, settings).filter(({ kind }) => kind !== 'provider_fee'),
    },
  ],
  [
    'that a reversal is not booked',
    {
      transfersOf: (change, settings) =>
        transfersOf(change, settings).filter(({ kind }) => kind !== 'reversal'),
    },
  ],
]

describe('a walk notices', () => {
  for (const [words, changed] of broken)
    test(words, () => {
      const rules = { ...refundRules, ...changed }
      const property = fc.property(anyWay, way => refundWalk(way, new Set(), rules).length === 0)
      const { failed } = fc.check(property, { numRuns: 10_000, seed: randomSeed(), endOnFailure: true })
      expect(failed).toBe(true)
    })
})
