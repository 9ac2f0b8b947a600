import fc from 'fast-check'
import { describe, expect, inject, test } from 'vitest'
import { hours, minutes } from '../../support/payments/rows.ts'
import { randomSeed } from '../../support/random.ts'
import { prompting, stepping } from './behaviours.ts'
import { type Rules, rules } from './rules.ts'
import { walk } from './steps.ts'

const stepsTaken = inject('isProof') ? 1_000_000 : 100_000
const longest = 200
const mostRounds = 40 // an overpayment is seen in one of a thousand walks

// One provider that prompts, and one that asks for codes, whose refusals are final or may reverse for a while.
const both = (roll: number) => [prompting, stepping([0, minutes(30), hours(24)][roll % 3] as number)]

const ways = fc.array(fc.nat(2 ** 31 - 1), { maxLength: longest, size: 'max' })

// The walks go on until each of these was seen; a walk that never reaches a state proves nothing about it.
const everything = [
  'a no that turned',
  'a right code after 0 wrong ones',
  'a right code after 1 wrong ones',
  'attempt_disputed by provider',
  'attempt_failed by provider',
  'attempt_given_up by customer',
  'attempt_needs_input by provider',
  'attempt_not_sent by provider',
  'attempt_paid by provider',
  'attempt_pending by provider',
  'attempt_started by customer',
  'attempt_submitted by customer',
  'attempt_unknown by provider',
  'awaiting_payment by customer',
  'awaiting_payment by merchant',
  'cancel_wished by customer',
  'cancelled by customer',
  'cancelled by provider',
  'dispute_lost by provider',
  'dispute_opened by provider',
  'dispute_won by provider',
  'failed by clock',
  'failed by provider',
  'never_arrived',
  'overpaid by provider',
  'paid by provider',
  'reversed',
  'reversed by provider',
  'task amount_mismatch',
  'task dispute_lost',
  'task dispute_opened',
  'task refund',
  'task reversed',
  'task unresolved',
  'went on after giving up',
  'went on by the other provider',
]

test(`${stepsTaken} steps of a customer, two providers, two nodes, crashes, clock and callbacks: charges are what the events explain`, () => {
  const seen = new Set<string>()
  const round = () => {
    let taken = 0
    const anyWay = fc.property(ways, way => {
      taken += way.length
      expect(walk(way, seen, both)).toEqual([])
    })
    // A failure prints the seed and the shortest walk.
    fc.assert(anyWay, { numRuns: Math.ceil(stepsTaken / longest), seed: randomSeed() })
    return taken
  }
  let taken = 0
  for (let rounds = 0; rounds < mostRounds; rounds++) {
    taken += round()
    if (taken >= stepsTaken && seen.size >= everything.length) break
  }
  expect(taken).toBeGreaterThanOrEqual(stepsTaken)
  expect([...seen].toSorted()).toEqual(everything)
}, 900_000)

// Each of these rules is broken on purpose, to show that the walks find the fault.
describe('a walk notices', () => {
  const broken: [words: string, changed: Partial<Rules>][] = [
    [
      'that an order which is not in sight yet is called failed',
      {
        applyReply: (payment, attempt, reply, now, context, stored) =>
          rules.applyReply(payment, attempt, reply, now, { ...context, absentForMs: 0 }, stored),
      },
    ],
    [
      'that an old answer is taken for one of now',
      {
        applyReply: (payment, attempt, reply, now, context, stored) =>
          rules.applyReply(payment, attempt, reply, now, { ...context, askedAt: now }, stored),
      },
    ],
    [
      'that silence is called failed',
      {
        applyReply: (payment, attempt, reply, now, context, stored) =>
          rules.applyReply(
            payment,
            attempt,
            reply.state === 'unknown' ? { state: 'failed', reason: 'refused' } : reply,
            now,
            context,
            stored,
          ),
      },
    ],
    [
      'that a no which may turn is not asked about again',
      {
        applyReply: (payment, attempt, reply, now, context, stored) =>
          rules.applyReply(payment, attempt, reply, now, { ...context, failureMayReverseForMs: 0 }, stored),
      },
    ],
    [
      'that a charge pays which was reversed before anybody heard of it',
      {
        applyReply: (payment, attempt, reply, now, context, stored) =>
          rules.applyReply(
            payment,
            attempt,
            reply.state === 'paid' && attempt.state !== 'paid' ? { ...reply, reversals: [] } : reply,
            now,
            context,
            stored,
          ),
      },
    ],
    [
      'that an answer from before a refund makes its charge pay',
      {
        applyReply: (payment, attempt, reply, now, context, stored) =>
          rules.applyReply(
            payment,
            attempt,
            reply,
            now,
            context,
            attempt.state === 'paid' ? stored : { reversals: [], disputes: [] },
          ),
      },
    ],
    [
      'that an answer from before asks again for what was typed',
      {
        applyReply: (payment, attempt, reply, now, context, stored) =>
          rules.applyReply(payment, attempt, reply, now, { ...context, submits: attempt.submits }, stored),
      },
    ],
    [
      'that a second click is carried on',
      {
        submit: (payment, attempts, page, timing, now) =>
          rules.submit(
            payment,
            attempts,
            { ...page, submits: attempts.at(-1)?.submits ?? page.submits },
            timing,
            now,
          ),
      },
    ],
    [
      'that a code is relayed before the wait is over',
      {
        submit: (payment, attempts, page, timing, now) =>
          rules.submit(
            payment,
            attempts.map(one => ({ ...one, submitted_at: null })),
            page,
            timing,
            now,
          ),
      },
    ],
    [
      'that what may have arrived is sent again to one who does not take that',
      { maySendAgain: (payment, attempt, _, now) => rules.maySendAgain(payment, attempt, true, now) },
    ],
    [
      'that the other provider is tried while the first may still charge',
      {
        whyNotStart: (payment, attempts, merchant, number, now) =>
          rules.whyNotStart(
            payment,
            attempts.map(one => ({ ...one, state: 'failed' })),
            merchant,
            number,
            now,
          ),
      },
    ],
    [
      'that the time ends what may still be paid',
      { expire: (payment, _, now) => rules.expire(payment, [], now) },
    ],
  ]
  for (const [words, changed] of broken)
    test(words, () => {
      const isRight = fc.property(
        ways,
        way => walk(way, new Set(), both, { ...rules, ...changed }).length === 0,
      )
      expect(fc.check(isRight, { numRuns: 5000, endOnFailure: true }).failed).toBe(true)
    }, 300_000)
})
