import { describe, expect, test } from 'vitest'
import type { Attempt } from '../../../src/core/payment/attempt.ts'
import { type EventKind, eventKinds, type PaymentEvent, type Task } from '../../../src/core/payment/change.ts'
import { chargedFigure, paymentFacts, type PaymentHistory } from '../../../src/core/timeline/history.ts'
import { timeline } from '../../../src/core/timeline/timeline.ts'
import { after, anAttempt, aPayment, hours, minutes, noon, seconds } from '../../support/payments/rows.ts'

const anEvent = (kind: EventKind, changed: Partial<PaymentEvent> = {}): PaymentEvent => ({
  merchant_id: 'ama0000000',
  tx_reference: 'TG-1',
  sequence: 1,
  kind,
  cause: 'provider',
  attempt_id: 'ama0000000first',
  from_status: null,
  to_status: null,
  reason: '',
  at: after(seconds(1)),
  ...changed,
})

const aTask = (kind: Task['kind'], changed: Partial<Task> = {}): Task => ({
  merchant_id: 'ama0000000',
  attempt_id: 'ama0000000first',
  kind,
  tx_reference: 'TG-1',
  amount: 2500n,
  currency: 'GHS',
  note: '',
  created_at: after(hours(24)),
  closed_at: null,
  closed_note: null,
  ...changed,
})

const settings = { retry_after_failure: true, reopen_unpaid: true, expiry_minutes: 60 }
const opens = 'If the shop sends the same request again, the payment opens again'

const aStory = (changed: Partial<PaymentHistory> = {}): PaymentHistory => ({
  payment: aPayment(),
  merchant: { name: 'Ama Shop', active: true, settings },
  attempts: [],
  events: [],
  tasks: [],
  refunds: [],
  ...changed,
})

const tell = (event: PaymentEvent, attempt: Partial<Attempt> = {}, tasks: Task[] = []) => {
  const { who, words } = timeline(aStory({ events: [event], attempts: [anAttempt(attempt)], tasks }), noon)
    .moments[1] as { who: string; words: string }
  return `${who}: ${words}`
}

for (const [what, attempt, currency, task, told] of [
  ['nothing was taken', { charged: null }, 'GHS', undefined, null],
  ['what was asked for', { charged: 2500n, state: 'paid' }, 'GHS', undefined, '25.00'],
  [
    'what was asked for, of a currency without decimals',
    { charged: 2500n, state: 'paid' },
    'UGX',
    undefined,
    '2500',
  ],
  ['another amount', { charged: 2400n, state: 'disputed' }, 'UGX', 'UGX', '2400'],
  ['another currency', { charged: 2400n, state: 'disputed' }, 'UGX', 'USD', 'USD 24.00'],
  [
    'a currency that nobody knows',
    { charged: 2400n, state: 'disputed' },
    'GHS',
    'XAU',
    'XAU 2400 in minor units',
  ],
  ['the right one after all', { charged: 2500n, state: 'paid' }, 'UGX', 'USD', '2500'],
] as const)
  test(`taken: ${what}`, () => {
    const tasks = task ? [aTask('amount_mismatch', { currency: task })] : []
    const story = { payment: aPayment({ currency }), tasks }
    expect(chargedFigure(anAttempt(attempt), story)).toBe(told)
  })

test('a number that a provider repeats is masked, in whatever spelling', () => {
  for (const number of ['+233240000000', '233240000000', '0240000000', '240000000'])
    expect(tell(anEvent('attempt_unknown', { reason: `no party ${number}!` }))).toBe(
      'provider (simulated): No clear answer, so it is asked again: no party 024 ••• 0000!',
    )
})

test('what a terminal would obey is not told', () => {
  expect(tell(anEvent('attempt_unknown', { reason: '\x1b]0;x\x07\r\u202eno' }))).toMatch(/: {2}\]0;x {3}no$/)
})

test('an event of a kind that we do not know yet is told by its name', () => {
  const kind = 'money_returned' as EventKind
  expect(tell(anEvent(kind, { cause: 'operator', reason: 'why' }))).toBe('operator: money returned: why')
})

test('an event whose attempt is missing is still told', () => {
  for (const kind of eventKinds)
    expect(tell(anEvent(kind, { attempt_id: 'gone', to_status: 'failed' }))).toMatch(/^provider: \w/)
})

test('the first thing that happened is that the shop asked', () => {
  expect(timeline(aStory(), noon).moments).toEqual([
    { at: noon, who: 'shop', words: 'Ama Shop requested GHS 25.00', mark: 'done' },
  ])
})

const card = { payment_method: 'card', instrument: '•••• 4242', card_type: 'visa' }
const coded = { psp_response_code: '51', psp_response_msg: 'Insufficient funds' }

for (const [what, codes, told] of [
  ['a raw code alone', { provider_code: 'PAYER_NOT_FOUND' }, ' (code PAYER_NOT_FOUND)'],
  ['the same code twice', { psp_response_code: '51', provider_code: '51' }, ' (code 51)'],
  ['two codes', { ...coded, provider_code: 'do_not_honor' }, ' (code 51: Insufficient funds; do_not_honor)'],
] as const)
  test(`a no is told with ${what}`, () =>
    expect(tell(anEvent('attempt_failed', { reason: 'No.' }), { state: 'failed', ...codes })).toBe(
      `provider (simulated): No to attempt 1: No.${told}`,
    ))

test('the raw code of an earlier answer is not told of a yes', () =>
  expect(tell(anEvent('attempt_paid'), { state: 'paid', provider_code: 'HTTP 400' })).not.toContain(
    'HTTP 400',
  ))

const codeOf = (changed: Partial<Attempt>) =>
  paymentFacts(aStory({ attempts: [anAttempt({ provider_code: 'HTTP 400', ...changed })] })).find(
    ([name]) => name === "provider's code",
  )?.[1]

test('the facts have the raw code of the latest attempt, unless it was paid', () => {
  expect(codeOf({ state: 'failed' })).toBe('HTTP 400')
  expect(codeOf({ state: 'unknown' })).toBe('HTTP 400')
  expect(codeOf({ state: 'paid' })).toBeUndefined()
})

describe('every kind of event has its sentence', () => {
  const table: [PaymentEvent, Partial<Attempt>, string][] = [
    [
      anEvent('attempt_started', { cause: 'customer' }),
      {},
      'customer: Chose MTN MoMo, 024 ••• 0000 (attempt 1)',
    ],
    [anEvent('attempt_started', { cause: 'customer' }), card, 'customer: Chose Card, •••• 4242 (attempt 1)'],
    [
      anEvent('attempt_started', { cause: 'merchant' }),
      {},
      "shop: Started it with the customer's MTN MoMo, 024 ••• 0000 (attempt 1)",
    ],
    [
      anEvent('attempt_pending'),
      { provider_ref: 'P-1' },
      "provider (simulated): Has the request; the customer's answer is awaited",
    ],
    [
      anEvent('attempt_unknown', { reason: 'HTTP 503' }),
      {},
      'provider (simulated): No clear answer, so it is asked again: HTTP 503',
    ],
    [
      anEvent('attempt_not_sent', { reason: 'connect ECONNREFUSED' }),
      { state: 'not_sent' },
      'provider (simulated): Could not be reached, so nothing of attempt 1 was sent; we try again: connect ECONNREFUSED',
    ],
    [
      anEvent('attempt_doubted', { reason: 'Its reference P-1 has paid another attempt already.' }),
      { state: 'disputed' },
      'provider (simulated): Reported paid, but not accepted: Its reference P-1 has paid another attempt already.',
    ],
    [
      anEvent('attempt_resent', { cause: 'clock' }),
      {},
      'clock: Sent attempt 1 again under the same reference: the provider did not have it',
    ],
    [
      anEvent('attempt_given_up', { cause: 'customer', reason: 'The number was wrong.' }),
      {},
      'customer: Gave attempt 1 up; it counts if it is approved after all: The number was wrong.',
    ],
    [
      anEvent('attempt_failed', { reason: 'Not enough money in the account.' }),
      { ...card, ...coded, state: 'failed' },
      'provider (simulated): No to attempt 1: Not enough money in the account. (code 51: Insufficient funds)',
    ],
    [anEvent('attempt_failed', { cause: 'operator', reason: 'x' }), {}, 'operator: Gave attempt 1 up'],
    [
      anEvent('attempt_paid'),
      { charged: 2500n, provider_ref: 'P-1' },
      'provider (simulated): Yes to attempt 1: GHS 25.00 taken, reference P-1',
    ],
    [
      anEvent('attempt_disputed', { reason: 'The provider says GHS 24.00.' }),
      {},
      'provider (simulated): Reported paid, but another amount: The provider says GHS 24.00.',
    ],
    [
      anEvent('cancel_wished', { cause: 'customer' }),
      {},
      'customer: Cancelled while attempt 1 was on its way; the payment becomes cancelled only if the attempt ends without success',
    ],
    [
      anEvent('overpaid'),
      { charged: 2500n },
      'provider (simulated): The payment was already paid: GHS 25.00 came in addition, to be refunded',
    ],
    [
      anEvent('receipt_resent', { cause: 'operator', reason: 'sms' }),
      {},
      'operator: Sent the receipt again by SMS',
    ],
    [
      anEvent('receipt_resent', { cause: 'operator', reason: 'email' }),
      {},
      'operator: Sent the receipt again by email',
    ],
    [anEvent('task_closed', { cause: 'operator', reason: 'Done.' }), {}, 'operator: Closed the task: Done.'],
    [
      anEvent('status_changed', { from_status: 'awaiting_payment', to_status: 'paid' }),
      {},
      'provider (simulated): The payment is paid',
    ],
    [
      anEvent('status_changed', { from_status: 'cancelled', to_status: 'paid' }),
      {},
      'provider (simulated): The payment is paid, late: it was cancelled, but money outranks an earlier failure or cancellation',
    ],
    [
      anEvent('status_changed', { cause: 'clock', to_status: 'failed', reason: 'The checkout expired.' }),
      {},
      'clock: The payment is failed: The checkout expired.',
    ],
    [
      anEvent('attempt_needs_input', { cause: 'provider', reason: 'otp' }),
      {},
      'provider (simulated): Waits for input from the customer: otp',
    ],
    [
      anEvent('attempt_submitted', { cause: 'customer', reason: 'otp' }),
      {},
      'customer: Sent the input that was asked for: otp',
    ],
    [
      anEvent('reversed', { cause: 'provider', reason: 'Refund 7.' }),
      {},
      'provider (simulated): Refunded attempt 1: Refund 7.',
    ],
    [
      anEvent('dispute_opened', { cause: 'provider', reason: 'GHS 25.00' }),
      {},
      "provider (simulated): The customer's bank disputes attempt 1: GHS 25.00",
    ],
    [
      anEvent('dispute_won', { cause: 'provider', reason: 'GHS 25.00' }),
      {},
      'provider (simulated): The dispute was won: the money stays: GHS 25.00',
    ],
    [
      anEvent('dispute_lost', { cause: 'provider', reason: 'GHS 25.00' }),
      {},
      'provider (simulated): The dispute was lost: the money went back to the customer: GHS 25.00',
    ],
    ...(
      [
        [
          'refund_requested',
          'merchant',
          'shop: Requested a refund: GHS 10.00. Broken.',
          'GHS 10.00. Broken.',
        ],
        ['refund_pending', 'provider', 'provider (simulated): Has the refund and works on it: GHS 10.00'],
        [
          'refund_unknown',
          'provider',
          'provider (simulated): No clear answer about the refund, so it is asked again: GHS 10.00',
        ],
        [
          'refund_needs_action',
          'provider',
          'provider (simulated): The refund waits for an operator: GHS 10.00',
        ],
        ['refund_succeeded', 'provider', 'provider (simulated): Refunded: GHS 10.00'],
        ['refund_succeeded', 'operator', 'operator: Recorded the refund as made: GHS 10.00'],
        ['refund_failed', 'provider', 'provider (simulated): The refund failed: GHS 10.00'],
        [
          'reversal_was_refund',
          'provider',
          'provider (simulated): A reversal that was recorded before is the refund that was requested: GHS 10.00',
        ],
      ] as const
    ).map(([kind, cause, sentence, reason = 'GHS 10.00']): (typeof table)[number] => [
      anEvent(kind, { cause, reason }),
      {},
      sentence,
    ]),
    [
      anEvent('attempt_declined', { cause: 'provider', reason: 'The card has expired.' }),
      {},
      "provider (simulated): A card was declined; the customer may try another on the provider's page: The card has expired.",
    ],
    [
      anEvent('status_changed', { cause: 'customer', to_status: 'awaiting_payment' }),
      {},
      'customer: The payment is open again',
    ],
  ]
  for (const [event, attempt, sentence] of table)
    test(sentence, () => expect(tell(event, attempt)).toBe(sentence))
  test('and none is left out', () =>
    expect(new Set(table.map(([{ kind }]) => kind))).toEqual(new Set(eventKinds)))
})

test('a no that turned into a yes does not show the code of the yes', () => {
  const event = anEvent('attempt_failed', { reason: 'The card has expired.' })
  const yes = { state: 'paid', psp_response_code: '00' } as const
  expect(tell(event, yes)).toBe('provider (simulated): No to attempt 1: The card has expired.')
})

test('a closed task is told by its kind, even where one attempt had two', () => {
  const at = after(hours(30))
  const tasks = [
    aTask('amount_mismatch', { closed_at: at }),
    aTask('unresolved', { created_at: at, closed_at: after(hours(31)) }),
  ]
  const event = anEvent('task_closed', { cause: 'operator', reason: 'Agreed.', at })
  expect(tell(event, {}, tasks)).toBe('operator: Closed the amount_mismatch task: Agreed.')
})

test('that a task was opened stands at its time between the events', () => {
  const events = [anEvent('attempt_pending'), anEvent('attempt_paid', { at: after(hours(25)) })]
  const { moments } = timeline(
    aStory({ events, attempts: [anAttempt()], tasks: [aTask('unresolved')] }),
    noon,
  )
  expect(moments.map(({ who }) => who)).toEqual([
    'shop',
    'provider (simulated)',
    'clock',
    'provider (simulated)',
  ])
  expect(moments[2]).toMatchObject({
    at: after(hours(24)),
    words: expect.stringContaining('a task was opened'),
  })
})

test('that an answer could not be written down is told, with the reason', () => {
  const tasks = [aTask('not_recorded', { note: 'The provider says paid.' })]
  const { moments } = timeline(aStory({ attempts: [anAttempt()], tasks }), noon)
  expect(moments.at(-1)?.words).toBe(
    'An answer about attempt 1 could not be stored: a task was opened. The provider says paid.',
  )
})

test('that a yes was for another order is told', () => {
  const tasks = [aTask('other_order', { note: 'It says paid for order X.' })]
  const { moments, next } = timeline(aStory({ attempts: [anAttempt()], tasks }), noon)
  expect(moments.at(-1)?.words).toBe(
    'The answer about attempt 1 was for another order: a task was opened. It says paid for order X.',
  )
  expect(next[0]?.words).toBe('An operator has to look: It says paid for order X.')
})

test('what has not left is told as such', () => {
  const attempts = [anAttempt({ state: 'not_sent', next_poll_at: after(seconds(1)) })]
  expect(timeline(aStory({ attempts }), noon).next).toEqual([
    { at: after(seconds(1)), words: 'We try again to send attempt 1 to MTN MoMo' },
    {
      at: null,
      words: 'Nothing was sent yet: attempt 1 fails if it cannot be sent within a minute of its start',
    },
  ])
})

describe('what happens next', () => {
  const failed = anAttempt({ state: 'failed', next_poll_at: null })
  const expires = after(hours(1))
  const table: [string, Partial<PaymentHistory>, Date, [Date | null, string][]][] = [
    [
      'nobody has paid yet',
      {},
      noon,
      [[expires, 'The checkout expires, and the payment becomes failed; until then the customer may pay']],
    ],
    [
      'the time is over and the clock has not come by',
      {},
      expires,
      [
        [expires, 'The time is over: the payment becomes failed'],
        [null, opens],
      ],
    ],
    [
      'the shop is switched off',
      { merchant: { name: 'A', active: false, settings } },
      noon,
      [
        [null, 'The shop is deactivated, so no payment is possible now'],
        [expires, 'The checkout expires, and the payment becomes failed'],
      ],
    ],
    [
      'an attempt is on its way',
      { attempts: [anAttempt({ state: 'pending', polls: 3 })] },
      noon,
      [
        [after(seconds(8)), 'We ask MTN MoMo for the status of attempt 1 (asked 3 times so far)'],
        [after(hours(24)), 'A task is opened if the outcome is still unknown'],
        [null, 'Success makes the payment paid, failure failed; it does not expire while attempt 1 is open'],
      ],
    ],
    [
      'the customer wished to cancel, and the ask is due',
      { payment: aPayment({ cancel_requested_at: noon }), attempts: [anAttempt({ polls: 1 })] },
      after(hours(1)),
      [
        [after(hours(1)), 'We ask MTN MoMo for the status of attempt 1 (asked once so far)'],
        [after(hours(24)), 'A task is opened if the outcome is still unknown'],
        [
          null,
          'When attempt 1 ends without success the payment becomes cancelled; if the money arrives, paid',
        ],
      ],
    ],
    [
      'the customer gave it up',
      { attempts: [anAttempt({ state: 'pending', gave_up_at: noon, gave_up_for: 'method' })] },
      noon,
      [
        [after(seconds(8)), 'We ask MTN MoMo for the status of attempt 1 (not asked yet)'],
        [after(hours(24)), 'A task is opened if the outcome is still unknown'],
        [
          null,
          'When attempt 1 ends without success the payment stays open, for the customer to go on; if the money arrives, paid',
        ],
      ],
    ],
    [
      'nothing is known for a day',
      { attempts: [anAttempt({ state: 'unknown', next_poll_at: null })], tasks: [aTask('unresolved')] },
      after(hours(25)),
      [
        [null, 'An operator has to look: the outcome of the attempt has been unknown for a day'],
        [null, 'Success makes the payment paid, failure failed; it does not expire while attempt 1 is open'],
      ],
    ],
    [
      'an answer could not be written down',
      { attempts: [anAttempt({ next_poll_at: null })], tasks: [aTask('not_recorded', { note: 'No room.' })] },
      noon,
      [
        [null, 'An operator has to look: the answer of the provider could not be stored. No room.'],
        [after(hours(24)), 'A task is opened if the outcome is still unknown'],
        [null, 'Success makes the payment paid, failure failed; it does not expire while attempt 1 is open'],
      ],
    ],
    [
      'the provider took another amount',
      {
        attempts: [anAttempt({ state: 'disputed', next_poll_at: null })],
        tasks: [aTask('amount_mismatch', { amount: 2400n, note: 'The provider says GHS 24.00.' })],
      },
      noon,
      [
        [null, 'An operator has to look: The provider says GHS 24.00.'],
        [null, 'Closing the task gives attempt 1 up, and the payment becomes failed'],
      ],
    ],
    [
      'it failed and may be tried again',
      {
        payment: aPayment({ status: 'failed' }),
        attempts: [anAttempt({ state: 'failed', next_poll_at: after(minutes(2)) })],
      },
      after(minutes(1)),
      [
        [after(minutes(2)), 'We ask again about attempt 1, in case its failure is reversed'],
        [expires, 'The checkout expires; until then the customer may try again'],
      ],
    ],
    [
      'it failed twice a moment ago',
      { payment: aPayment({ status: 'failed' }), attempts: [failed, { ...failed, number: 2 }] },
      after(seconds(1)),
      [
        [after(seconds(5)), 'The next try is accepted; each failure makes the wait a little longer'],
        [expires, 'The checkout expires; until then the customer may try again'],
      ],
    ],
    [
      'it failed and its time is over',
      { payment: aPayment({ status: 'failed' }), attempts: [failed] },
      expires,
      [
        [null, 'Nothing: the time to pay is over'],
        [null, opens],
      ],
    ],
    [
      'it expired, and the shop wants nothing opened',
      {
        payment: aPayment({ status: 'failed' }),
        merchant: { name: 'A', active: true, settings: { ...settings, reopen_unpaid: false } },
      },
      expires,
      [[null, 'Nothing: the time to pay is over']],
    ],
    [
      'the shop takes one failure for the end',
      {
        payment: aPayment({ status: 'failed' }),
        attempts: [failed],
        merchant: { name: 'A', active: true, settings: { ...settings, retry_after_failure: false } },
      },
      after(minutes(1)),
      [[null, 'Nothing: this shop allows no retry after a failure']],
    ],
    [
      'cancelled',
      { payment: aPayment({ status: 'cancelled' }) },
      noon,
      [
        [null, 'Nothing: the customer cancelled'],
        [null, opens],
      ],
    ],
    [
      'a direct request, cancelled',
      { payment: aPayment({ status: 'cancelled', pymt_instrument: '+233240000000' }) },
      noon,
      [[null, 'Nothing: the customer cancelled']],
    ],
    ['paid', { payment: aPayment({ status: 'paid' }) }, noon, [[null, 'Nothing: paid is final']]],
    [
      'paid twice',
      { payment: aPayment({ status: 'paid' }), tasks: [aTask('refund')] },
      noon,
      [
        [null, 'An operator has to look: a refund of GHS 25.00 is open'],
        [null, 'Nothing else: paid is final'],
      ],
    ],
    [
      'paid twice and given back',
      { payment: aPayment({ status: 'paid' }), tasks: [aTask('refund', { closed_at: noon })] },
      noon,
      [[null, 'Nothing: paid is final']],
    ],
  ]
  for (const [name, story, now, next] of table)
    test(name, () =>
      expect(timeline(aStory(story), now).next).toEqual(next.map(([at, words]) => ({ at, words }))),
    )
})
