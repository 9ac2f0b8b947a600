import { describe, expect, test } from 'vitest'
import type { Task } from '../../../src/core/payment/change.ts'
import type { PaymentHistory } from '../../../src/core/timeline/history.ts'
import {
  deliverySteps,
  type NotificationState,
  shortTime,
  verdict,
} from '../../../src/core/timeline/verdict.ts'
import { after, anAttempt, aPayment, hours, minutes, noon, seconds } from '../../support/payments/rows.ts'

const history = (changed: Partial<PaymentHistory> = {}): PaymentHistory => ({
  payment: aPayment({ status: 'paid' }),
  merchant: {
    name: 'Ama Shop',
    active: true,
    settings: { retry_after_failure: true, reopen_unpaid: true, expiry_minutes: 60 },
  },
  attempts: [],
  events: [],
  tasks: [],
  refunds: [],
  ...changed,
})

const notification = (changed: Partial<NotificationState> = {}): NotificationState => ({
  sequence: 1,
  type: 'status',
  url: 'https://shop.example/ipn',
  style: 'post',
  begun_at: noon,
  tries: 0,
  parked: false,
  last_try_at: null,
  last_result: null,
  next_try_at: null,
  lease_until: null,
  acknowledged_at: null,
  exhausted_at: null,
  ...changed,
})
const refused = { status: null, words: 'the connection was refused' }
const failing = { tries: 3, last_result: 'no_connection', lastTry: refused } as const
const receipt = { topic: 'paid', state: 'sent', messenger: 'smpp', sent_at: noon } as const

const acknowledged = notification({ tries: 1, acknowledged_at: after(seconds(2)) })
const unanswered = notification({ ...failing, next_try_at: after(minutes(7)) })
const exhausted = notification({ ...failing, tries: 16, exhausted_at: after(-hours(2)) })

describe('a paid payment leads with whether the shop knows', () => {
  for (const [name, notifications, tone, title, reason, resend] of [
    [
      'acknowledged',
      [acknowledged],
      'ok',
      'Paid. The shop has acknowledged.',
      'Acknowledged 12:00 UTC. The money is safe. The customer has a receipt.',
      undefined,
    ],
    [
      'not acknowledged',
      [unanswered],
      'warn',
      'Paid. The shop has not acknowledged.',
      'The connection was refused, 3 tries, next 12:07 UTC. The money is safe. The customer has a receipt.',
      1,
    ],
    [
      'parked before its first try',
      [notification({ parked: true, next_try_at: after(minutes(7)) })],
      'warn',
      'Paid. The shop has not acknowledged.',
      '0 tries, parked, next 12:07 UTC. The money is safe. The customer has a receipt.',
      1,
    ],
    [
      'exhausted',
      [exhausted],
      'bad',
      'Paid. The shop never acknowledged.',
      'The connection was refused, 16 tries, given up 10:00 UTC. The money is safe. The customer has a receipt.',
      1,
    ],
    [
      'a try on its way',
      [{ ...unanswered, lease_until: after(seconds(20)) }],
      'off',
      'Paid. The shop is being notified.',
      'Try 3 is on its way. The money is safe. The customer has a receipt.',
      undefined,
    ],
    [
      'no try yet',
      [notification({ next_try_at: noon })],
      'off',
      'Paid. The shop is notified next.',
      'No try yet, next 12:00 UTC. The money is safe. The customer has a receipt.',
      undefined,
    ],
    [
      'no address',
      [notification({ url: null, tries: null })],
      'off',
      'Paid. The shop was not notified.',
      'It has no address for this notification (ipn_url), so it has to ask for the status. The money is safe. The customer has a receipt.',
      undefined,
    ],
    [
      'an earlier status is not acknowledged',
      [
        { ...exhausted, sequence: 1 },
        { ...acknowledged, sequence: 2 },
      ],
      'ok',
      'Paid. The shop has acknowledged.',
      'Acknowledged 12:00 UTC. The money is safe. The customer has a receipt.',
      undefined,
    ],
    [
      'a refund is in the feed only',
      [acknowledged, notification({ sequence: 2, type: 'reversed', url: null })],
      'ok',
      'Paid. The shop has acknowledged.',
      'Acknowledged 12:00 UTC. The money is safe. The customer has a receipt.',
      undefined,
    ],
  ] as const)
    test(name, () => {
      const found = verdict(history(), notifications, [receipt], noon)
      expect([found.tone, found.title, found.reason, found.resend]).toEqual([tone, title, reason, resend])
    })
})

test('the status of the answer is named, and a text of the endpoint is one line', () => {
  const answered = { ...failing, last_result: 'server_error', lastTry: { status: 503, words: '' } } as const
  expect(verdict(history(), [notification(answered)], [], noon).reason).toBe(
    'The endpoint failed with a server error (HTTP 503), 3 tries. The money is safe.',
  )
  const odd = { ...failing, lastTry: { status: null, words: 'no\u202e\nway' } }
  expect(verdict(history(), [notification(odd)], [], noon).reason).toMatch(/^No {2}way, 3 tries/)
})

for (const [states, text] of [
  [[], ''],
  [[receipt], 'The customer has a receipt.'],
  [[{ ...receipt, messenger: 'inbox' }], 'The receipt is in the inbox.'],
  [[{ ...receipt, state: 'queued', sent_at: null }], 'The receipt is on its way.'],
  [[{ ...receipt, state: 'dropped' }], 'The receipt could not be sent.'],
  [[{ ...receipt, topic: 'failed' }], ''],
] as const)
  test(`receipts: ${JSON.stringify(states)}`, () => {
    const { reason } = verdict(history(), [acknowledged], states, noon)
    expect(reason).toBe(['Acknowledged 12:00 UTC. The money is safe.', text].filter(Boolean).join(' '))
  })

const task: Task = {
  merchant_id: 'ama0000000',
  attempt_id: 'ama0000000first',
  kind: 'refund',
  tx_reference: 'TG-1',
  amount: 2500n,
  currency: 'GHS',
  note: '',
  created_at: noon,
  closed_at: null,
  closed_note: null,
}

test('an open task comes first, and does not say that the money is safe', () => {
  expect(verdict(history({ tasks: [task] }), [exhausted], [receipt], noon)).toEqual({
    tone: 'warn',
    title: 'Paid. An operator has to act.',
    reason:
      'Money arrived twice: refund this amount. The shop never acknowledged. ' +
      'The connection was refused, 16 tries, given up 10:00 UTC.',
    resend: 1,
  })
  const closed = history({ tasks: [{ ...task, closed_at: noon }] })
  expect(verdict(closed, [acknowledged], [], noon).title).toBe('Paid. The shop has acknowledged.')
})

for (const [name, changed, title, reason] of [
  ['open', {}, 'Not paid yet.', 'The customer may pay until 13:00 UTC.'],
  ['expired', { expires_at: after(-seconds(1)) }, 'Not paid yet.', 'The time to pay is over.'],
  [
    'failed',
    { status: 'failed', status_reason: 'Not enough money in the account.' },
    'Not paid.',
    'Not enough money in the account. Nothing was taken.',
  ],
  ['cancelled', { status: 'cancelled' }, 'Cancelled.', 'Nothing was taken.'],
  ['refunded', { status: 'paid', reversed_amount: 500n }, 'Paid, and GHS 5.00 refunded.', ''],
  ['late', { status: 'paid', late: true }, 'Paid, late.', 'The money is safe.'],
] as const)
  test(`${name}, before any notification`, () => {
    const found = verdict(history({ payment: aPayment(changed) }), [], [], noon)
    expect([found.title, found.reason]).toEqual([title, reason])
  })

test('an attempt without a result may still become paid', () => {
  for (const status of ['awaiting_payment', 'failed', 'cancelled'] as const) {
    const open = history({ payment: aPayment({ status }), attempts: [anAttempt({ state: 'unknown' })] })
    expect(verdict(open, [], [], noon).reason).toContain('if it is approved, the payment becomes paid')
    expect(verdict(open, [], [], noon).reason).not.toContain('Nothing was taken')
  }
})

test('the next try is among the next steps', () => {
  expect(deliverySteps([unanswered], noon)).toEqual([
    { at: after(minutes(7)), words: 'The shop is notified, try 4' },
  ])
  expect(deliverySteps([{ ...unanswered, lease_until: after(seconds(9)) }], noon)).toEqual([])
  expect(deliverySteps([acknowledged], noon)).toEqual([])
})

test('another day is named', () => {
  expect(shortTime(after(minutes(5)), noon)).toBe('12:05 UTC')
  expect(shortTime(after(hours(24)), noon)).toBe('3 Mar 12:00 UTC')
})
