import { describe, expect, test } from 'vitest'
import type { Attempt } from '../../../src/core/payment/attempt.ts'
import { eventKinds, type PaymentEvent, type TaskKind, taskKinds } from '../../../src/core/payment/change.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { reasons } from '../../../src/core/provider/reason.ts'
import type { PaymentHistory } from '../../../src/core/timeline/history.ts'
import { storedText } from '../../../src/core/timeline/storedSentences.ts'
import { timeline } from '../../../src/core/timeline/timeline.ts'
import { deliverySteps, type NotificationState, verdict } from '../../../src/core/timeline/verdict.ts'
import { after, anAttempt, aPayment, hours, minutes, noon, seconds } from '../../support/payments/rows.ts'

// Whatever happens to a payment is told in French as well, and no sentence is the English one.

const settings = { retry_after_failure: true, reopen_unpaid: true, expiry_minutes: 60 }
const merchant = { name: 'Ama Shop', active: true, settings }
const aHistory = (changed: Partial<PaymentHistory> = {}): PaymentHistory => ({
  payment: aPayment(),
  merchant,
  attempts: [anAttempt()],
  events: [],
  tasks: [],
  refunds: [],
  ...changed,
})

const anEvent = (changed: Partial<PaymentEvent>): PaymentEvent => ({
  merchant_id: 'ama0000000',
  tx_reference: 'TG-1',
  sequence: 1,
  kind: 'status_changed',
  cause: 'provider',
  attempt_id: 'ama0000000first',
  from_status: 'awaiting_payment',
  to_status: 'paid',
  reason: reasons.card_expired,
  at: after(seconds(1)),
  ...changed,
})

const aTask = (kind: TaskKind, note = '') => ({
  merchant_id: 'ama0000000',
  attempt_id: 'ama0000000first',
  kind,
  tx_reference: 'TG-1',
  amount: 2500n,
  currency: 'GHS',
  note,
  created_at: after(hours(24)),
  closed_at: null,
  closed_note: null,
})

const aDelivery = (changed: Partial<NotificationState>): NotificationState => ({
  sequence: 1,
  type: 'status',
  url: 'https://shop.example/ipn',
  style: 'post',
  begun_at: noon,
  tries: 3,
  parked: false,
  last_try_at: noon,
  last_result: 'no_connection',
  next_try_at: null,
  lease_until: null,
  acknowledged_at: null,
  exhausted_at: null,
  lastTry: { status: null, words: 'the connection was refused' },
  ...changed,
})

// Names, figures, references and codes are the same in both languages.
const names = /Ama Shop|GHS|MTN Mobile Money|simulated|UTC|HTTP|message|notification|SMS/g
const words = (text: string) => text.replace(names, '').match(/\p{L}{2,}/gu) ?? []

// English words that are no French ones. A sentence with one of them has been left in English, in part at least.
const english =
  /(?<!\p{L})(the|was|were|has|have|is|are|not|of|and|for|with|its|it|paid|refund|refunded|shop|asked|again|attempt|provider|customer|nothing|yes|no answer)(?!\p{L})/iu

function expectFrench(pairs: readonly (readonly [en: string, fr: string])[]) {
  expect(pairs.length).toBeGreaterThan(0)
  for (const [en, fr] of pairs) {
    if (words(en).length > 0) expect(fr).not.toBe(en)
    expect(fr.replace(names, '')).not.toMatch(english)
    expect(fr, 'a no-break space').not.toMatch(/ [:;?!»]|« /)
    expect(fr, 'an apostrophe').not.toMatch(/'/)
    expect(fr).not.toMatch(/\{\w+\}|undefined|null/)
  }
}

const told = (history: PaymentHistory, now = after(minutes(2))) => {
  const [en, fr] = [timeline(history, now, 'en'), timeline(history, now, 'fr')] as const
  return [
    ...en.moments.map(({ words: text }, at) => [text, fr.moments[at]?.words ?? ''] as const),
    ...en.moments.map(({ who }, at) => [who, fr.moments[at]?.who ?? ''] as const),
    ...en.next.map(({ words: text }, at) => [text, fr.next[at]?.words ?? ''] as const),
  ]
}

describe('each kind of event', () => {
  for (const kind of eventKinds)
    for (const cause of ['customer', 'merchant', 'provider', 'clock', 'operator'] as const)
      test(`${kind} by ${cause}`, () => {
        const reason = kind === 'receipt_resent' ? 'sms' : reasons.card_expired
        expectFrench(told(aHistory({ events: [anEvent({ kind, cause, reason })] })))
      })
  for (const to_status of ['awaiting_payment', 'paid', 'cancelled', 'failed'] as const)
    for (const from_status of ['awaiting_payment', 'cancelled', 'failed'] as const)
      test(`from ${from_status} to ${to_status}`, () => {
        const reopened = { cause: 'merchant', attempt_id: null } as const
        for (const changed of [{}, reopened])
          expectFrench(told(aHistory({ events: [anEvent({ from_status, to_status, ...changed })] })))
      })
})

describe('each kind of task', () => {
  for (const kind of Object.keys(taskKinds) as TaskKind[])
    test(kind, () => {
      const note = kind === 'unknown_code' ? 'E42' : 'The charge was refunded.'
      const open = aHistory({ tasks: [aTask(kind, note)] })
      const closed = aHistory({
        tasks: [{ ...aTask(kind), closed_at: after(hours(25)), closed_note: '' }],
        events: [anEvent({ kind: 'task_closed', cause: 'operator', reason: '', at: after(hours(25)) })],
      })
      expectFrench([...told(open), ...told(aHistory({ tasks: [aTask(kind)] })), ...told(closed)])
      const [en, fr] = [verdict(open, [], [], noon, 'en'), verdict(open, [], [], noon, 'fr')]
      expectFrench([
        [en.title, fr.title],
        [en.reason, fr.reason],
      ])
    })
})

const payments: Partial<Payment>[] = [
  {},
  { status: 'paid' },
  { status: 'paid', late: true },
  { status: 'paid', refunded_amount: 500n },
  { status: 'failed', status_reason: reasons.declined },
  { status: 'cancelled', status_reason: reasons.cancelled },
  { cancel_requested_at: noon },
  { expires_at: after(-minutes(5)) },
]
const attempts: (Partial<Attempt> | undefined)[] = [
  undefined,
  { state: 'paid' },
  { state: 'failed' },
  { state: 'unknown', polls: 1 },
  { state: 'pending', polls: 4, gave_up_at: noon },
  { state: 'disputed' },
  { state: 'not_sent' },
]
test('what happens next, whatever the payment and its attempt', () => {
  for (const payment of payments)
    for (const attempt of attempts)
      for (const active of [true, false]) {
        const history = aHistory({
          payment: aPayment(payment),
          attempts: attempt ? [anAttempt(attempt)] : [],
          merchant: { ...merchant, active, settings: { ...settings, retry_after_failure: active } },
        })
        expectFrench([...told(history), ...told(history, after(seconds(3)))])
      }
})

const deliveries: Partial<NotificationState>[] = [
  { url: null },
  { acknowledged_at: noon },
  { lease_until: after(minutes(10)) },
  { exhausted_at: after(-hours(30)), tries: 16 },
  { tries: 0, next_try_at: after(minutes(1)), last_result: null, lastTry: undefined },
  { parked: true, tries: 1, next_try_at: after(hours(13)) },
  { lastTry: { status: 404, words: '' }, last_result: 'refused' },
]
test('the verdict, whatever the payment, its notification and its receipt', () => {
  for (const payment of payments)
    for (const delivery of deliveries)
      for (const state of ['queued', 'sent', 'dropped'] as const) {
        const history = aHistory({ payment: aPayment(payment) })
        const states = [aDelivery(delivery)]
        const receipts = [{ topic: 'paid', state, messenger: 'smpp', sent_at: null } as const]
        const of = (lang: 'en' | 'fr') => verdict(history, states, receipts, after(minutes(2)), lang)
        const steps = (lang: 'en' | 'fr') => deliverySteps(states, after(minutes(2)), lang)
        expectFrench([
          [of('en').title, of('fr').title],
          [of('en').reason, of('fr').reason],
          ...steps('en').map(({ words: text }, at) => [text, steps('fr')[at]?.words ?? ''] as const),
        ])
      }
})

for (const [stored, french] of [
  ['The card has expired.', 'La carte a expiré.'],
  ['Refund R-1: succeeded.', 'Remboursement R-1 : effectué.'],
  ['GHS 5.00. The provider does not have the refund.', 'GHS 5.00. Le prestataire n’a pas ce remboursement.'],
  [
    'The provider reports GHS 24.00; GHS 25.00 was requested.',
    'Le prestataire annonce GHS 24.00 ; GHS 25.00 étaient demandés.',
  ],
  [
    'The account mtn is not set up. 2 attempts wait for it.',
    'Le compte mtn n’est pas configuré. 2 tentatives l’attendent.',
  ],
  ['10.0.0.7 is a private address', '10.0.0.7 est une adresse privée'],
  ['Kofi came by. This is a note.', 'Kofi came by. This is a note.'], // of a person
  ['', ''],
] as const)
  test(`stored: ${stored}`, () => {
    expect(storedText(stored, 'fr')).toBe(french)
    expect(storedText(stored, 'en')).toBe(stored)
  })
