import { expect, test } from 'vitest'
import type { AttemptState } from '../../src/core/attempt.ts'
import { hear as hearIt } from '../../src/core/hear.ts'
import type { Status } from '../../src/core/payment.ts'
import * as rows from '../support/lifeRows.ts'
import { after, anAttempt, aPayment, hours, minutes, noon, seconds } from '../support/lifeRows.ts'

const { yes, wrong, no, pending, unclear, absent } = rows
const young = after(seconds(10))
const old = after(minutes(5))
const worth = { absentForMs: minutes(5), sends: 1 }
const hear = (...[payment, attempt, reply, now]: HearArguments) => hearIt(payment, attempt, reply, now, worth)
type HearArguments = Parameters<typeof hearIt> extends [...infer Four, unknown] ? Four : never
const leased = after(hours(9)) // whoever asks has put the next ask off

// What an attempt becomes: a yes, a yes to another amount, a no, pending, nothing clear, absent, absent for long.
const table: [AttemptState, ...AttemptState[]][] = [
  ['paid', 'paid', 'paid', 'paid', 'paid', 'paid', 'paid', 'paid'],
  ['failed', 'paid', 'failed', 'failed', 'failed', 'failed', 'failed', 'failed'],
  ['disputed', 'paid', 'disputed', 'failed', 'disputed', 'disputed', 'disputed', 'disputed'],
  ['unknown', 'paid', 'disputed', 'failed', 'pending', 'unknown', 'unknown', 'failed'],
  ['pending', 'paid', 'disputed', 'failed', 'pending', 'pending', 'pending', 'pending'],
  ['started', 'paid', 'disputed', 'failed', 'pending', 'unknown', 'unknown', 'failed'],
]
const replies = [yes, wrong, no, pending, unclear, absent, absent]

// What a payment becomes when its attempt becomes paid or failed; otherwise it stays.
const payments: [from: Status, paid: Status, failed: Status][] = [
  ['paid', 'paid', 'paid'],
  ['cancelled', 'paid', 'cancelled'],
  ['failed', 'paid', 'failed'],
  ['awaiting_payment', 'paid', 'failed'],
]

for (const [before, ...afters] of table)
  for (const [status, ifPaid, ifFailed] of payments)
    for (const [at, state] of afters.entries()) {
      const reply = replies[at] as (typeof replies)[number]
      const now = at === 6 ? old : young
      const to =
        state === before ? status : state === 'paid' ? ifPaid : state === 'failed' ? ifFailed : status
      const age = at > 4 ? ` after ${(now.getTime() - noon.getTime()) / 1000} s` : ''
      const what = reply === wrong ? 'another amount' : reply.state
      test(`${status}, attempt ${before}, ${what}${age}: attempt ${state}, ${to}`, () => {
        const change = hear(
          aPayment({ status }),
          anAttempt({ state: before, next_ask_at: leased }),
          reply,
          now,
        )
        expect([change.attempt.state, change.payment.status]).toEqual([state, to])
        expect(change.payment.late).toBe(to === 'paid' && (status === 'failed' || status === 'cancelled'))
        const moves = change.events.filter(({ kind }) => kind === 'status_changed')
        expect(moves.map(({ from_status, to_status }) => [from_status, to_status])).toEqual(
          to === status ? [] : [[status, to]],
        )
        const isOver = state !== before && state === 'paid' && status === 'paid'
        const isWrong = reply === wrong && before !== 'paid'
        expect(change.tasks.map(({ kind }) => kind)).toEqual(
          isOver ? ['refund'] : isWrong ? ['amount_mismatch'] : [],
        )
        const hasEnded = state === 'paid' || state === 'failed'
        expect(change.attempt.given).toEqual(hasEnded ? {} : { phone: '+233240000000' })
        expect(change.attempt.ended_at === null).toBe(!hasEnded)
        expect(change.attempt.next_ask_at === null).toBe(state === 'paid')

        const again = hear(change.payment, change.attempt, reply, now)
        expect(again.events).toEqual([]) // a reply that is repeated is no news
        expect([again.attempt.state, again.payment]).toEqual([state, change.payment])
      })
    }

for (const [words, reply] of [
  ['a pesewa less', { ...yes, amount: 2499n }],
  ['a pesewa more', { ...yes, amount: 2501n }],
  ['nothing', { ...yes, amount: 0n }],
  ['another currency', { ...yes, currency: 'USD' }],
] as const) {
  test(`${words} is never paid`, () => {
    const { payment, attempt, tasks } = hear(aPayment(), anAttempt(), reply, young)
    expect([payment.status, payment.charged, attempt.state]).toEqual(['awaiting_payment', null, 'disputed'])
    expect(tasks).toMatchObject([
      { kind: 'amount_mismatch', amount: reply.amount, note: expect.stringContaining('was asked for') },
    ])
  })
}

for (const [state, to] of [
  ['failed', 'cancelled'], // the wish comes true
  ['paid', 'paid'], // money outranks it
] as const) {
  test(`after a wish to cancel an attempt that is ${state} leaves the payment ${to}`, () => {
    const reply = state === 'paid' ? yes : no
    const change = hear(aPayment({ cancel_wished_at: noon }), anAttempt({ state: 'pending' }), reply, young)
    expect(change.payment).toMatchObject({ status: to, late: false })
  })
}

test('a no that comes after a newer attempt has begun leaves the payment alone', () => {
  const { payment } = hear(aPayment(), anAttempt({ state: 'failed' }), no, young)
  expect(payment.status).toBe('awaiting_payment')
})

test('an attempt that nobody has heard of for a day is for a person', () => {
  const { tasks, attempt } = hear(aPayment(), anAttempt({ state: 'pending' }), unclear, after(hours(24)))
  expect(tasks.map(({ kind }) => kind)).toEqual(['unresolved'])
  expect(attempt.state).toBe('pending')
})

for (const [from, state, events] of [
  ['pending', 'disputed', ['attempt_disputed']],
  ['disputed', 'disputed', []],
  ['failed', 'failed', []], // the customer may be trying again
  ['paid', 'paid', []],
] as const)
  test(`a yes to no amount, heard of an attempt that is ${from}`, () => {
    const reply = { state: 'paid_oddly', words: 'It says 1e99.', provider_ref: 'P-9' } as const
    const change = hear(aPayment(), anAttempt({ state: from }), reply, young)
    expect(change.attempt).toMatchObject({ state, charged: null })
    expect(change.payment.status).toBe('awaiting_payment')
    expect(change.events.map(({ kind }) => kind)).toEqual(events)
    const note = 'It says 1e99. GHS 25.00 was asked for.'
    const told = { kind: 'amount_mismatch', amount: 2500n, currency: 'GHS', note }
    expect(change.tasks).toMatchObject(from === 'paid' ? [] : [told])
    expect(hear(change.payment, change.attempt, reply, young).events).toEqual([])
  })

test('a no about which no clear answer can be had is asked about again', () => {
  const failed = anAttempt({ state: 'failed', next_ask_at: leased })
  const { attempt } = hear(aPayment({ status: 'failed' }), failed, unclear, after(hours(3)))
  expect(attempt.next_ask_at).not.toBeNull()
})

test('what the provider tells is kept, and shown masked', () => {
  const told = {
    provider_ref: 'P-9',
    card_type: 'Visa',
    psp_response_code: '00',
    psp_response_msg: 'Approved',
  }
  const { payment, attempt } = hear(aPayment(), anAttempt(), { ...yes, ...told }, young)
  expect(attempt).toMatchObject({ ...told, charged: 2500n, instrument: '+233240000000' })
  const { provider_ref: payment_reference, ...facts } = told
  const paid = { payment_method: 'mtn_mobile_money', payment_time: young, charged: 2500n }
  expect(payment).toMatchObject({ payment_reference, ...facts, ...paid, payment_instrument: '024 ••• 0000' })
})

test('what a later reply leaves out is not forgotten', () => {
  const known = anAttempt({ state: 'pending', provider_ref: 'P-1', redirect_url: 'https://bank.example/1' })
  const { attempt } = hear(aPayment(), known, pending, young)
  expect(attempt).toMatchObject({ provider_ref: 'P-1', redirect_url: 'https://bank.example/1' })
})
