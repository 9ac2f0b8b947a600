import type { SendResult } from '../../../src/core/message/messenger.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  dropped,
  applyResult,
  messageWindowMs,
  nextMessageTry,
  pauses,
} from '../../../src/core/message/messageTries.ts'
import { after, hours, minutes, noon, seconds } from '../../support/payments/rows.ts'

const recipient = '+233241234567'

describe('after a failed try', () => {
  for (const [tries, afterMs, random, waitMs] of [
    [1, 0, 0, seconds(30)],
    [2, 0, 0, minutes(1)],
    [3, 0, 0, minutes(2)],
    [4, 0, 0, minutes(5)],
    [5, 0, 0, minutes(10)],
    [6, 0, 0, minutes(20)],
    [7, 0, 0, minutes(40)],
    [8, 0, 0, hours(1)],
    [20, 0, 0, hours(1)], // and every hour from then on
    [1, 0, 1, seconds(33)], // a tenth more at most
    [1, minutes(3), 0, minutes(3)], // asked for by the network
    [8, seconds(1), 0, hours(1)], // which cannot make us faster
  ] as const)
    test(`try ${tries}, requested pause ${afterMs} ms, random ${random}: ${waitMs} ms`, () =>
      expect(nextMessageTry({ created_at: noon, tries }, after(minutes(1)), random, afterMs)).toEqual(
        after(minutes(1) + waitMs),
      ))

  test('no try starts a day after the message was queued', () => {
    expect(nextMessageTry({ created_at: noon, tries: 9 }, after(hours(23)), 0)).toBeUndefined()
    expect(nextMessageTry({ created_at: noon, tries: 9 }, after(hours(23) - 1), 0)).toEqual(
      after(hours(24) - 1),
    )
    expect(nextMessageTry({ created_at: noon, tries: 1 }, noon, 0, hours(25))).toBeUndefined()
  })
})

const outcomes = fc.oneof(
  { weight: 40, arbitrary: fc.constant<SendResult>({ state: 'retry', reason: 'Busy.' }) },
  {
    weight: 5,
    arbitrary: fc
      .integer({ min: 0, max: hours(6) })
      .map((afterMs): SendResult => ({ state: 'retry', reason: 'Busy.', afterMs })),
  },
  { weight: 1, arbitrary: fc.constant<SendResult>({ state: 'sent', provider_ref: 'R-1' }) },
  { weight: 1, arbitrary: fc.constant<SendResult>({ state: 'rejected', reason: 'No.' }) },
)

test('with any results of the network: tries are in order, within a day, and end', () => {
  fc.assert(
    fc.property(
      fc.infiniteStream(outcomes),
      fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })),
      (results, dice) => {
        let now = after(seconds(60))
        for (let tries = 1; tries < 60; tries++) {
          expect(now.getTime() - noon.getTime()).toBeLessThan(messageWindowMs)
          const sent = results.next().value as SendResult
          const ending = applyResult(
            { created_at: noon, tries, recipient },
            sent,
            now,
            dice.next().value as number,
          )
          if (sent.state === 'sent') return ending.state === 'sent'
          expect(ending.sent_at).toBeNull()
          if (ending.next_try_at === null) return ending.state === 'dropped'
          expect(ending.state).toBe('queued')
          const pause = pauses[Math.min(tries, pauses.length) - 1] as number
          expect(ending.next_try_at.getTime() - now.getTime()).toBeGreaterThanOrEqual(pause)
          now = ending.next_try_at
        }
        throw new Error('it never ended')
      },
    ),
    { numRuns: 2000 },
  )
})

describe('the stored reason', () => {
  for (const [to, words, kept] of [
    ['ama@shop.example', '550 5.1.1 <Ama@Shop.example>: unknown', '550 5.1.1 <...>: unknown'],
    ['+233241234567', 'number 233241234567 is barred', 'number ... is barred'],
    ['+233241234567', 'number +233241234567 is barred', 'number +... is barred'],
    ['a.b+c@shop.example', 'no a.b+c@shop.example, but axb@shop.example', 'no ..., but axb@shop.example'],
    ['ama@shop.example', `two\r\nlines ${'x'.repeat(500)}`, `two lines ${'x'.repeat(190)}`],
  ] as const)
    test(words.slice(0, 40), () =>
      expect(
        applyResult(
          { created_at: noon, tries: 1, recipient: to },
          { state: 'rejected', reason: words },
          noon,
          0,
        ),
      ).toEqual(dropped(kept, noon)),
    )
})
