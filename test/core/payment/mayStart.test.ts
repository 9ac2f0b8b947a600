import { expect, test } from 'vitest'
import {
  fillsCap,
  obstacle,
  secondsToCool,
  secondsToWait,
  whyNotBegin,
} from '../../../src/core/payment/mayStart.ts'
import { after, anAttempt, aPayment, hours, noon, seconds } from '../../support/payments/rows.ts'

const shop = { active: true, settings: { retry_after_failure: true } }
const closed = { ...shop, active: false }
const oneTry = { ...shop, settings: { retry_after_failure: false } }
const failures = (count: number) =>
  Array.from({ length: count }, (_, at) => anAttempt({ number: at + 1, state: 'failed' }))
const failed = { status: 'failed' } as const
const later = after(hours(0.5))

for (const [words, payment, attempts, merchant, now, expected] of [
  ['paid', { status: 'paid' }, [], shop, later, 'paid'],
  ['paid, and a second one on its way', { status: 'paid' }, [anAttempt()], shop, later, 'paid'],
  ['cancelled', { status: 'cancelled' }, failures(1), shop, later, 'cancelled'],
  ['wished to cancel', { cancel_requested_at: noon }, [anAttempt()], shop, later, 'cancelled'],
  ['one has just been started', {}, [anAttempt({ state: 'started' })], shop, later, 'unresolved'],
  ['one is pending', {}, [anAttempt({ state: 'pending' })], shop, later, 'unresolved'],
  ['one is unknown', {}, [anAttempt({ state: 'unknown' })], shop, later, 'unresolved'],
  ['one is disputed', {}, [anAttempt({ state: 'disputed' })], shop, later, 'unresolved'],
  ['over time, one pending', {}, [anAttempt({ state: 'pending' })], shop, after(hours(2)), 'unresolved'],
  ['the last moment has come', {}, [], shop, after(hours(1)), 'expired'],
  ['a merchant that is switched off', {}, [], closed, later, 'closed'],
  ['failed, and the merchant wants one try', failed, failures(1), oneTry, later, 'no_retry'],
  ['ten failures', failed, failures(10), shop, later, 'too_many'],
  ['the second failure a moment ago', failed, failures(2), shop, after(seconds(4)), 'too_soon'],
  ['the second failure some seconds ago', failed, failures(2), shop, after(seconds(5)), undefined],
  ['the first failure just now', failed, failures(1), shop, noon, undefined],
  ['a moment before the end', {}, [], shop, after(hours(1) - 1), undefined],
  ['nothing yet, and the merchant wants one try', {}, [], oneTry, later, undefined],
  ['nothing yet', {}, [], shop, noon, undefined],
] as const) {
  test(`${words}: ${expected ?? 'go on'}`, () =>
    expect(obstacle(aPayment(payment), attempts, merchant, now)).toBe(expected))
}

for (const [count, wait] of [
  [0, 0],
  [1, 0],
  [2, 5],
  [3, 10],
  [4, 20],
  [5, 30],
  [9, 30],
] as const) {
  test(`after ${count} failures one waits ${wait} seconds, and not a moment longer`, () => {
    expect(secondsToWait(failures(count), noon)).toBe(wait)
    expect(secondsToWait(failures(count), after(Math.max(0, seconds(wait) - 1)))).toBe(wait > 0 ? 1 : 0)
    expect(secondsToWait(failures(count), after(seconds(wait)))).toBe(0)
  })
}

for (const [words, instrument, payer, wait] of [
  ['neither cap is full', null, null, 0],
  ['one tried too often with one wallet, since noon', noon, null, 3000],
  ['one tried too often from one address, since noon', null, noon, 3000],
  ['both: the later one counts', noon, after(seconds(90.001)), 3091],
  ['the last one has just grown old', after(seconds(-3000)), null, 0],
  ['nearly', after(seconds(-2999.999)), null, 1],
] as const) {
  test(`${words}: ten minutes after noon one waits ${wait} seconds`, () =>
    expect(secondsToCool({ instrument, payer }, after(seconds(600)))).toBe(wait))
}

const at = (...count: number[]) => count.map(second => after(seconds(second)))
for (const [words, skipped, stored, begun, expected] of [
  ['two stored failures', 0, at(2, 1), [], null],
  ['three stored failures', 2, at(1), [], 1],
  ['four, of which the newest two are not read', 2, at(2), [], 2],
  ['two, and one that begins in the same transaction', 1, at(1), at(9), 1],
  ['one, and one that begins in the same transaction', 1, at(), at(9), null],
  ['none, and three that begin in the same transaction', 0, at(), at(7, 8, 9), 7],
  ['five, and two that begin in the same transaction', 0, at(5, 4, 3), at(8, 9), 5],
] as const)
  test(`a cap of three with ${words}: ${expected === null ? 'not full' : `full since second ${expected}`}`, () =>
    expect(fillsCap({ skipped, at: stored }, begun, 3)).toEqual(
      expected === null ? null : after(seconds(expected)),
    ))

for (const [words, number, attempts, now, expected] of [
  ['the next', 3, failures(2), later, undefined],
  ['a form of before', 2, failures(2), later, { obstacle: 'unresolved', seconds: 0 }],
  ['a number that nobody gave', 9, failures(2), later, { obstacle: 'unresolved', seconds: 0 }],
  ['the next, too soon', 3, failures(2), after(seconds(2)), { obstacle: 'too_soon', seconds: 3 }],
  ['too many', 11, failures(10), later, { obstacle: 'too_many', seconds: 0 }],
] as const)
  test(`attempt ${number}, ${words}: ${expected?.obstacle ?? 'go on'}`, () =>
    expect(whyNotBegin(aPayment(failed), attempts, shop, number, now)).toEqual(expected))
