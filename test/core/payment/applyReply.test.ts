import { describe, expect, test } from 'vitest'
import { applyReply as hearIt, keepLaterPoll, referenceTaken } from '../../../src/core/payment/applyReply.ts'
import type { Attempt, AttemptState } from '../../../src/core/payment/attempt.ts'
import type { MoneyBack } from '../../../src/core/payment/change.ts'
import type { Payment, Status } from '../../../src/core/payment/payment.ts'
import type { SanitizedReply } from '../../../src/core/provider/reply.ts'
import * as rows from '../../support/payments/rows.ts'
import { after, anAttempt, aPayment, hours, minutes, noon, seconds } from '../../support/payments/rows.ts'

const { yes, wrong, no, pending, unclear, absent } = rows
const young = after(seconds(10))
const old = after(minutes(5))
const worth = rows.replyContext
const hear = (payment: Payment, attempt: Attempt, reply: SanitizedReply, now: Date, stored?: MoneyBack) =>
  hearIt(payment, attempt, reply, now, { ...worth, askedAt: now }, stored)
const leased = after(hours(9)) // whoever asks has put the next ask off

// What an attempt becomes: a yes, a yes to another amount, a no, pending, nothing clear, absent, absent for long.
const table: [AttemptState, ...AttemptState[]][] = [
  ['paid', 'paid', 'paid', 'paid', 'paid', 'paid', 'paid', 'paid'],
  ['failed', 'paid', 'failed', 'failed', 'failed', 'failed', 'failed', 'failed'],
  ['disputed', 'paid', 'disputed', 'failed', 'disputed', 'disputed', 'disputed', 'disputed'],
  ['unknown', 'paid', 'disputed', 'failed', 'pending', 'unknown', 'unknown', 'failed'],
  ['pending', 'paid', 'disputed', 'failed', 'pending', 'pending', 'pending', 'pending'],
  ['started', 'paid', 'disputed', 'failed', 'pending', 'unknown', 'unknown', 'failed'],
  ['not_sent', 'paid', 'disputed', 'failed', 'pending', 'not_sent', 'not_sent', 'failed'],
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
          anAttempt({ state: before, next_poll_at: leased }),
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
        expect(change.attempt.next_poll_at === null).toBe(state === 'paid')

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
      { kind: 'amount_mismatch', amount: reply.amount, note: expect.stringContaining('was requested') },
    ])
  })
}

for (const [reported, currency, amounts] of [
  ['GHS', 'GHS', 'GHS 24.00; GHS 25.00'],
  ['UGX', 'GHS', 'UGX 2400; GHS 25.00'],
  ['GHS', 'UGX', 'GHS 24.00; UGX 2500'],
  ['XAU', 'UGX', 'XAU 2400 in minor units; UGX 2500'], // its decimals are unknown
] as const)
  test(`the task formats both amounts by their currencies: ${amounts}`, () => {
    const reply = { ...yes, amount: 2400n, currency: reported }
    const { tasks } = hear(aPayment({ currency }), anAttempt(), reply, young)
    expect(tasks).toMatchObject([
      { amount: 2400n, currency: reported, note: `The provider reports ${amounts} was requested.` },
    ])
  })

for (const [state, to] of [
  ['failed', 'cancelled'], // the wish comes true
  ['paid', 'paid'], // money outranks it
] as const) {
  test(`after a wish to cancel an attempt that is ${state} leaves the payment ${to}`, () => {
    const reply = state === 'paid' ? yes : no
    const change = hear(
      aPayment({ cancel_requested_at: noon }),
      anAttempt({ state: 'pending' }),
      reply,
      young,
    )
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
    const reply = { state: 'paid_mismatch', order: 'X', words: 'It says 1e99.', provider_ref: 'P-9' } as const
    const change = hear(aPayment(), anAttempt({ state: from }), reply, young)
    expect(change.attempt).toMatchObject({ state, charged: null })
    expect(change.payment.status).toBe('awaiting_payment')
    expect(change.events.map(({ kind }) => kind)).toEqual(events)
    const note = 'It says 1e99. GHS 25.00 was requested.'
    const told = { kind: 'amount_mismatch', amount: 2500n, currency: 'GHS', note }
    expect(change.tasks).toMatchObject(from === 'paid' ? [] : [told])
    expect(hear(change.payment, change.attempt, reply, young).events).toEqual([])
  })

test('a no about which no clear answer can be had is asked about again', () => {
  const failed = anAttempt({ state: 'failed', next_poll_at: leased })
  const { attempt } = hear(aPayment({ status: 'failed' }), failed, unclear, after(hours(3)))
  expect(attempt.next_poll_at).not.toBeNull()
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

for (const [what, attempt, now, sends, state, events] of [
  ['the first time', {}, young, 1, 'not_sent', ['attempt_not_sent']],
  ['again', { sends: 4 }, young, 4, 'not_sent', []],
  [
    'after a minute',
    { state: 'not_sent' },
    after(minutes(1)),
    1,
    'failed',
    ['attempt_failed', 'status_changed'],
  ],
  ['of a sending before the last', { sends: 2 }, young, 1, 'unknown', ['attempt_unknown']],
  [
    'of a second sending, where the first may have arrived',
    { resent_at: noon, sends: 2 },
    old,
    2,
    'unknown',
    ['attempt_unknown'],
  ],
  ['of what the provider has', { state: 'unknown', acknowledged_at: noon }, old, 1, 'unknown', []],
  ['of what the provider has, once more', { state: 'pending' }, old, 1, 'pending', []],
] as const)
  test(`known not to have been sent, ${what}: ${state}`, () => {
    const change = hearIt(aPayment(), anAttempt(attempt), rows.notSent, now, {
      ...worth,
      sends,
    })
    expect(change.attempt.state).toBe(state)
    expect(change.events.map(({ kind }) => kind)).toEqual(events)
    expect(change.attempt.reason).toBe(state === 'failed' ? 'not_sent' : null)
  })

for (const [what, changed] of [
  ['a wish to cancel', { cancel_requested_at: noon }],
  ['an end', { status: 'failed' }],
] as const)
  test(`after ${what} nothing is sent any more`, () => {
    const { attempt } = hear(aPayment(changed), anAttempt(), rows.notSent, young)
    expect(attempt).toMatchObject({ state: 'failed', reason: 'not_sent' })
  })

test('whatever shows that the provider has it is an acknowledgement, and the first one counts', () => {
  const acknowledging = { state: 'unknown', words: 'HTTP 202', acknowledged: true } as const
  for (const reply of [yes, wrong, no, pending, acknowledging]) {
    const { attempt } = hear(aPayment(), anAttempt(), reply, young)
    expect(attempt.acknowledged_at).toEqual(young)
    expect(hear(aPayment(), attempt, reply, old).attempt.acknowledged_at).toEqual(young)
  }
  for (const reply of [unclear, absent, rows.notSent])
    expect(hear(aPayment(), anAttempt(), reply, young).attempt.acknowledged_at).toBeNull()
})

test('what the provider has is not what never left', () => {
  const reply = { state: 'unknown', words: 'HTTP 409', acknowledged: true } as const
  const { attempt } = hear(aPayment(), anAttempt({ state: 'not_sent' }), reply, young)
  expect(attempt).toMatchObject({ state: 'unknown', acknowledged_at: young })
})

test('absent after an acknowledgement is a contradiction, however long it lasts', () => {
  const known = anAttempt({ state: 'unknown', acknowledged_at: noon })
  const { attempt, tasks } = hear(aPayment(), known, absent, after(hours(24)))
  expect(attempt.state).toBe('unknown')
  expect(tasks.map(({ kind }) => kind)).toEqual(['unresolved'])
})

test('what was sent a second time may be absent for so much longer', () => {
  const again = anAttempt({ state: 'unknown', sends: 2, resent_at: young })
  expect(hear(aPayment(), again, absent, old).attempt.state).toBe('unknown')
  expect(hear(aPayment(), again, absent, after(minutes(6))).attempt.state).toBe('failed')
})

test('a provider that does not say how long leaves absent unbelieved', () => {
  const never = { ...worth, absentForMs: Infinity, lifetimeMs: undefined }
  expect(hearIt(aPayment(), anAttempt(), absent, after(hours(20)), never).attempt.state).toBe('unknown')
})

for (const state of ['started', 'not_sent', 'pending', 'unknown', 'disputed', 'failed'] as const)
  test(`a yes to another order changes nothing for an attempt that is ${state}, and is for a person`, () => {
    const reply = { state: 'other_order', words: 'It says paid for order X.' } as const
    const change = hear(aPayment(), anAttempt({ state }), reply, young)
    expect(change.attempt.state).toBe(state === 'started' ? 'unknown' : state)
    expect(change.attempt.provider_ref).toBeNull()
    expect(change.payment.status).toBe('awaiting_payment')
    expect(change.tasks).toMatchObject([{ kind: 'other_order', amount: 2500n, note: reply.words }])
  })

for (const [state, to, events] of [
  ['pending', 'disputed', ['attempt_doubted']],
  ['disputed', 'disputed', []],
  ['failed', 'failed', []], // the customer may be trying again
] as const)
  test(`a yes by a reference that has paid another, of an attempt that is ${state}`, () => {
    const clash = { reference: 'P-1', holder: 'TG-9, attempt 1,' }
    const change = referenceTaken(aPayment(), anAttempt({ state }), clash, young)
    expect(change.attempt).toMatchObject({ state: to, charged: null, provider_ref: null })
    expect(change.attempt.next_poll_at).not.toBeNull()
    expect(change.events.map(({ kind }) => kind)).toEqual(events)
    expect(change.tasks).toMatchObject([
      { kind: 'reference_taken', note: expect.stringMatching(/P-1.*TG-9, attempt 1/) },
    ])
  })

for (const [words, changed, state, isTheirs] of [
  ['nobody asked since', {}, 'pending', false],
  ['somebody asked since', { polls: 3 }, 'pending', true],
  ['somebody callback_received since', { next_poll_at: noon }, 'pending', true],
  ['somebody callback_received since, but it is paid', { next_poll_at: noon }, 'paid', false],
] as const)
  test(`${words}: ${isTheirs ? 'their' : 'our'} time stands`, () => {
    const asked = anAttempt({ polls: 2, next_poll_at: leased })
    const before = { ...asked, ...changed }
    const ours = { ...before, state, next_poll_at: state === 'paid' ? null : young }
    const expected = isTheirs ? before.next_poll_at : ours.next_poll_at
    expect(keepLaterPoll(ours, before, asked).next_poll_at).toEqual(expected)
  })

test('absent tells of the moment when we asked, however late it is written down', () => {
  const late = after(minutes(20))
  const asked = (askedAt: Date) => hearIt(aPayment(), anAttempt(), absent, late, { ...worth, askedAt })
  expect(asked(after(minutes(4))).attempt.state).toBe('unknown') // it may be in sight by now
  expect(asked(after(minutes(5))).attempt.state).toBe('failed')
})

test('where the provider does not say the amount, it is the one that was asked for', () => {
  const { payment, attempt } = hear(aPayment(), anAttempt(), { ...yes, amount: 'not_said' }, young)
  expect([payment.status, payment.charged, attempt.charged]).toEqual(['paid', 2500n, 2500n])
  const other = hear(aPayment(), anAttempt(), { ...yes, amount: 'not_said', currency: 'USD' }, young)
  expect([other.payment.status, other.attempt.state]).toEqual(['awaiting_payment', 'disputed'])
})

const facts = { provider_time: after(seconds(3)), fee: 25n, net: 2475n, text: 'Look at your phone.' }
const kept = ({ provider_time, fee, net, provider_text }: ReturnType<typeof anAttempt>) => ({
  provider_time,
  fee,
  net,
  text: provider_text,
})

for (const reply of [yes, wrong, no, pending])
  test(`what the provider tells beside ${reply.state === 'paid' ? reply.amount : reply.state} is kept, and stays where the next says nothing`, () => {
    const first = hear(aPayment(), anAttempt(), { ...reply, ...facts }, young)
    const told = first.attempt.ended_at ? { ...facts, text: null } : facts // nobody waits for anything any more
    expect(kept(first.attempt)).toEqual(told)
    expect(kept(hear(first.payment, first.attempt, reply, old).attempt)).toEqual(told)
  })

for (const [what, restMs, ms] of [
  ['says nothing of rest', undefined, seconds(1)],
  ['wants less than the gap', 10, seconds(1)],
  ['wants a minute', minutes(1), minutes(1)],
  ['wants a day', hours(24), minutes(16)], // so long anybody is left alone
] as const)
  test(`a provider that ${what} is asked next after ${ms / 1000} s`, () => {
    const reply = { state: 'unknown', words: 'HTTP 429', ...(restMs && { restMs }) } as const
    const { attempt } = hear(aPayment(), anAttempt({ state: 'pending' }), reply, young)
    expect(attempt.next_poll_at).toEqual(after(ms, young))
  })

const step = { name: 'otp', fields: [{ name: 'otp', kind: 'digits' }] } as const

for (const [before, state] of [
  ['started', 'needs_input'],
  ['not_sent', 'needs_input'],
  ['unknown', 'needs_input'],
  ['pending', 'needs_input'],
  ['needs_input', 'needs_input'],
  ['disputed', 'disputed'], // a person looks into it
  ['failed', 'failed'],
  ['paid', 'paid'],
] as const)
  test(`a step that is asked for of an attempt that is ${before}: ${state}`, () => {
    const { attempt, events, payment } = hear(
      aPayment(),
      anAttempt({ state: before }),
      { state: 'pending', step },
      young,
    )
    expect([attempt.state, attempt.step]).toEqual([state, state === 'needs_input' ? step : null])
    const isNews = state === 'needs_input' && before !== state
    expect(events.map(({ kind }) => kind)).toEqual(isNews ? ['attempt_needs_input'] : [])
    expect(payment.status).toBe('awaiting_payment')
  })

const refund = (id: string, amount: bigint) => ({ id, amount, words: `Refund ${id}.` })
const kinds = (all: readonly { kind: string }[]) => all.map(({ kind }) => kind)
const recordsOf = ({ moneyBack = { reversals: [], disputes: [] } }: { moneyBack?: MoneyBack }): MoneyBack =>
  moneyBack

describe('refunds and disputes', () => {
  const partly = { ...yes, reversals: [refund('R1', 1000n)] }
  const wholly = { ...yes, reversals: [refund('R1', 1000n), refund('R2', 1500n)] }
  const payer = anAttempt({ state: 'paid', charged: 2500n, provider_ref: 'P-1' })
  const paid = aPayment({ status: 'paid', paid_attempt_id: payer.attempt_id, charged: 2500n })

  test('a charge that is first heard of as wholly reversed never pays', () => {
    const { payment, attempt, events, tasks, moneyBack } = hear(aPayment(), anAttempt(), wholly, young)
    expect(payment).toMatchObject({ status: 'failed', reversed_at: null, paid_attempt_id: null })
    expect(attempt).toMatchObject({ state: 'failed', reason: 'reversed', charged: 2500n })
    expect(kinds(events)).toEqual(['reversed', 'reversed', 'attempt_failed', 'status_changed'])
    expect(tasks).toMatchObject([{ kind: 'reversed', amount: 2500n }])
    expect(moneyBack?.notices).toEqual([]) // the merchant was never told paid
    const again = hear(payment, attempt, wholly, old, recordsOf({ moneyBack }))
    expect([again.events, again.moneyBack]).toEqual([[], undefined])
  })

  test('a charge that was partly reversed before it was reported paid is another amount', () => {
    const change = hear(aPayment(), anAttempt(), partly, young)
    expect(change.payment.status).toBe('awaiting_payment')
    expect(change.attempt.state).toBe('disputed')
    expect(change.tasks).toMatchObject([{ kind: 'amount_mismatch', amount: 1500n }])
    const rest = hear(change.payment, change.attempt, wholly, old, recordsOf(change))
    expect(rest.attempt).toMatchObject({ state: 'failed', reason: 'reversed' })
    expect(rest.moneyBack?.reversals.map(one => one.reversal_id)).toEqual(['R2'])
  })

  test('a lost dispute before it was reported paid never pays either', () => {
    const lost = { id: 'D1', state: 'lost', amount: 2500n, words: '' } as const
    const { attempt } = hear(aPayment(), anAttempt(), { ...yes, disputes: [lost] }, young)
    expect(attempt).toMatchObject({ state: 'failed', reason: 'reversed' })
  })

  test('refunds of a paid payment: each is recorded and told once, with its own amount', () => {
    const first = hear(paid, payer, partly, young)
    expect(first.payment).toMatchObject({ status: 'paid', reversed_at: young, reversed_amount: 1000n })
    expect(first.moneyBack?.notices).toMatchObject([{ type: 'reversed', amount: 1000n }])
    const second = hear(first.payment, first.attempt, wholly, old, recordsOf(first))
    expect(second.payment).toMatchObject({ reversed_at: young, reversed_amount: 2500n })
    expect(second.moneyBack?.notices).toMatchObject([{ type: 'reversed', amount: 1500n }])
    expect(second.tasks).toMatchObject([{ kind: 'reversed', amount: 2500n }])
  })

  test('the refund of an overpayment leaves the good payment as it is, and its task is done', () => {
    const other = anAttempt({ attempt_id: 'ama0000000second', number: 2, state: 'paid', charged: 2500n })
    const { payment, events, tasks, moneyBack } = hear(paid, other, wholly, young)
    expect(payment).toBe(paid)
    expect(kinds(events)).toEqual(['reversed', 'reversed'])
    expect(tasks).toEqual([])
    expect(moneyBack).toMatchObject({ notices: [], closes: [{ kind: 'refund' }] })
  })

  test('opening a dispute moves no money; losing it does, and winning it does not', () => {
    const open = { id: 'D1', state: 'open', amount: 2500n, words: 'Answer before Friday.' } as const
    const opened = hear(paid, payer, { ...yes, disputes: [open] }, young)
    expect(opened.payment).toBe(paid)
    expect(kinds(opened.events)).toEqual(['dispute_opened'])
    expect(kinds(opened.tasks)).toEqual(['dispute_opened'])
    for (const [state, amount, tasks] of [
      ['won', null, []],
      ['lost', 2500n, ['dispute_lost']],
    ] as const) {
      const reply = { ...yes, disputes: [{ ...open, state }] }
      const resolved = hear(opened.payment, opened.attempt, reply, old, recordsOf(opened))
      expect(kinds(resolved.events)).toEqual([`dispute_${state}`])
      expect(kinds(resolved.tasks)).toEqual(tasks)
      expect(resolved.payment.reversed_amount).toBe(amount)
      expect(resolved.moneyBack?.closes).toMatchObject([{ kind: 'dispute_opened' }])
    }
  })

  test('never more than was charged, where a lost dispute is listed as a refund too', () => {
    const lost = { id: 'D1', state: 'lost', amount: 2500n, words: '' } as const
    const { payment } = hear(paid, payer, { ...wholly, disputes: [lost] }, young)
    expect(payment.reversed_amount).toBe(2500n)
  })

  test('a webhook named a refund, and no clear answer came: it is asked again', () => {
    const checked = { ...payer, check_reversals: true, next_poll_at: leased }
    expect(hear(paid, checked, unclear, young).attempt.next_poll_at).not.toBeNull()
    expect(hear(paid, checked, yes, young).attempt.next_poll_at).toBeNull()
    expect(hear(paid, payer, unclear, young).attempt.next_poll_at).toBeNull()
  })

  test('a webhook that came while the provider was asked is not forgotten', () => {
    const asked = { polls: 1, next_poll_at: leased }
    const before = { ...payer, polls: 1, check_reversals: true, next_poll_at: young }
    expect(keepLaterPoll({ ...before, next_poll_at: null }, before, asked).next_poll_at).toBe(young)
  })
})

test('the customer bears the fee: paid, and charged is what the customer paid in all', () => {
  const { payment, attempt } = hear(aPayment(), anAttempt(), { ...yes, charged: 2550n, fee: 50n }, young)
  expect(payment).toMatchObject({ status: 'paid', charged: 2550n })
  expect(attempt).toMatchObject({ charged: 2550n, fee: 50n })
})

describe('a declined card on a page that is still open', () => {
  const reply: SanitizedReply & { state: 'declined' } = {
    state: 'declined',
    reason: 'card_declined',
    psp_response_msg: 'Do not honour',
  }
  const open = anAttempt({ state: 'pending', payment_method: 'card', redirect_url: 'https://pay.test' })
  const decline = (attempt: Attempt, at: Date, said = reply) => hear(aPayment(), attempt, said, at)

  test('is not the end', () => {
    const { attempt, events, payment } = decline(open, young)
    expect(attempt).toMatchObject({ state: 'pending', declined_at: young, redirect_url: 'https://pay.test' })
    expect(events.map(({ kind }) => kind)).toEqual(['attempt_declined'])
    expect(payment.status).toBe('awaiting_payment')
    expect(decline(attempt, old).events).toEqual([])
    expect(hear(aPayment(), attempt, yes, old).payment.status).toBe('paid')
  })
  test('ends when the customer returns', () => {
    const seen = decline({ ...open, returned_at: old }, old)
    expect(seen.attempt).toMatchObject({ state: 'failed', reason: 'card_declined' })
    const before = decline({ ...open, returned_at: noon }, old) // and went back to the page since
    expect(before.attempt.state).toBe('pending')
    const later = decline({ ...decline(open, young).attempt, returned_at: old }, old)
    expect(later.attempt.state).toBe('failed')
  })
  test('ends when another method is chosen', () =>
    expect(decline({ ...open, gave_up_at: young, gave_up_for: 'method' }, old).attempt.state).toBe('failed'))
  test('ends half an hour after the last decline', () => {
    const first = decline(open, young).attempt
    const again = decline(first, after(minutes(29)), { ...reply, psp_response_msg: 'Expired' })
    expect(again.attempt).toMatchObject({ state: 'pending', declined_at: after(minutes(29)) })
    expect(decline(first, after(minutes(31))).attempt.state).toBe('failed')
    const same = { ...reply, psp_response_msg: 'Expired' }
    expect(decline(again.attempt, after(minutes(31)), same).attempt.state).toBe('pending')
  })
})

test('a poll falls on the moment when "not found" becomes final, also after the order was sent again', () => {
  const at = after(minutes(4.5))
  expect(hear(aPayment(), anAttempt({ polls: 30 }), absent, at).attempt.next_poll_at).toEqual(
    after(minutes(5)),
  )
  const resent = anAttempt({ polls: 30, sends: 2, resent_at: young })
  expect(hear(aPayment(), resent, absent, after(minutes(5.98))).attempt.next_poll_at).toEqual(
    after(minutes(6)),
  )
  const final = hear(aPayment(), { ...resent, state: 'unknown' }, absent, after(minutes(6)))
  expect(final.attempt).toMatchObject({ state: 'failed', reason: 'never_arrived' })
})

test('an order that the provider refused with a code has reached it', () => {
  const refused = anAttempt({ state: 'unknown', provider_code: 'NOT_ALLOWED' })
  const { attempt } = hear(aPayment(), refused, absent, after(minutes(6)))
  expect(attempt).toMatchObject({ state: 'failed', reason: 'refused' })
})

test('an account that is not set up: nothing is known, and a person is called', () => {
  const { attempt, tasks } = hear(
    aPayment(),
    anAttempt(),
    { state: 'not_set_up', words: 'Another one.' },
    young,
  )
  expect(attempt.state).toBe('unknown')
  expect(attempt.next_poll_at).not.toBeNull()
  expect(tasks).toMatchObject([{ kind: 'not_set_up', note: 'Another one.' }])
})

test('an unknown code that comes again and again is for a person', () => {
  const reply = { ...no, provider_code: 'BRAND_NEW', isRepeatedCode: true } as SanitizedReply
  expect(hear(aPayment(), anAttempt(), reply, young).tasks).toMatchObject([
    { kind: 'unknown_code', note: 'BRAND_NEW' },
  ])
})
