import { describe, expect, test } from 'vitest'
import type { Attempt } from '../../../src/core/payment/attempt.ts'
import { type NewEvent, taskKinds } from '../../../src/core/payment/change.ts'
import { decideReopen } from '../../../src/core/payment/expiry.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { after, anAttempt, aPayment, hours, minutes, noon, seconds } from '../../support/payments/rows.ts'

type Past = Parameters<typeof decideReopen>[1]
const settings = { reopen_unpaid: true, expiry_minutes: 30, retry_after_failure: true }
const merchant = { active: true, settings }
const nothing: Past = { attempts: [], tasks: [], events: [] }
const late = after(hours(2)) // its hour is over
const refused = anAttempt({ state: 'failed', ended_at: noon })

const opened = (payment: Partial<Payment>, past: Partial<Past> = {}, now = late, whose = merchant) =>
  decideReopen(aPayment(payment), { ...nothing, ...past }, whose, now)

describe('it is opened, with its whole time before it', () => {
  for (const [why, payment, past, at] of [
    ['cancelled', { status: 'cancelled', status_reason: 'The customer cancelled.' }, {}, after(seconds(1))],
    ['cancelled, and its time is over', { status: 'cancelled' }, {}, late],
    [
      'cancelled while an attempt was on its way',
      { status: 'cancelled', cancel_requested_at: noon },
      {},
      late,
    ],
    ['cancelled after a failure', { status: 'cancelled' }, { attempts: [refused] }, late],
    ['expired', { status: 'failed', status_reason: 'The checkout expired before it was paid.' }, {}, late],
    ['failed, and then its time was over', { status: 'failed' }, { attempts: [refused] }, late],
    ['a provider was silent for a day', { status: 'failed' }, { tasks: [{ kind: 'unresolved' }] }, late],
  ] as [string, Partial<Payment>, Partial<Past>, Date][])
    test(why, () => {
      const change = opened(payment, past, at)
      expect(change?.payment).toMatchObject({
        status: 'awaiting_payment',
        status_reason: '',
        cancel_requested_at: null,
        expires_at: after(minutes(30), at),
        updated_at: at,
        late: false,
      })
      expect(change?.events).toEqual([
        {
          kind: 'status_changed',
          cause: 'merchant',
          attempt_id: null,
          from_status: payment.status,
          to_status: 'awaiting_payment',
          reason: '',
          at,
        },
      ])
    })

  test('the last failure was a moment ago: the customer waits for a moment more', () =>
    expect(opened({ status: 'cancelled' }, { attempts: many(3) }, after(seconds(1)))?.payment.status).toBe(
      'awaiting_payment',
    ))
})

test('where nobody has noticed yet that the time is over, only the time moves on', () => {
  expect(opened({ status: 'awaiting_payment' })).toEqual({
    payment: aPayment({ expires_at: after(minutes(30), late), updated_at: late }),
    events: [],
  })
})

function many(count: number) {
  return Array.from({ length: count }, (_, at) =>
    anAttempt({ attempt_id: `ama0000000-${at}`, number: at + 1, state: 'failed', ended_at: noon }),
  )
}

const before: NewEvent = {
  kind: 'status_changed',
  cause: 'merchant',
  attempt_id: null,
  from_status: 'cancelled',
  to_status: 'awaiting_payment',
  reason: '',
  at: noon,
}

const attempt = (changed: Partial<Attempt>): Partial<Past> => ({ attempts: [anAttempt(changed)] })

describe('it stays as it is', () => {
  const cancelled: Partial<Payment> = { status: 'cancelled' }
  for (const [why, payment, past, at, whose] of [
    ['paid', { status: 'paid', charged: 2500n }],
    ['paid, late', { status: 'paid', charged: 2500n, late: true }],
    ['open, with time left', {}, {}, noon],
    ['failed, with time left: its page offers another try', { status: 'failed' }, {}, noon],
    ['what is known of the payer was removed', { ...cancelled, redacted_at: noon }],
    ...(['started', 'not_sent', 'pending', 'unknown', 'disputed', 'paid'] as const).map(
      state => [`an attempt is ${state}`, cancelled, attempt({ state })] as const,
    ),
    ['an attempt was charged, by another amount', cancelled, attempt({ state: 'failed', charged: 2400n })],
    ['a person gave an attempt up', cancelled, attempt({ state: 'failed', reason: 'given_up' })],
    ...(Object.keys(taskKinds) as (keyof typeof taskKinds)[])
      .filter(kind => kind !== 'unresolved')
      .map(kind => [`there is, or was, a task: ${kind}`, cancelled, { tasks: [{ kind }] }] as const),
    ['as many attempts as may be were made', cancelled, { attempts: many(10) }],
    ['it was opened 30 times', cancelled, { events: Array.from({ length: 30 }, () => before) }],
    ['the merchant does not want it', cancelled, {}, late, { reopen_unpaid: false }],
    ['the merchant is switched off', cancelled, {}, late, { active: false }],
  ] as [string, Partial<Payment>, Partial<Past>?, Date?, { active?: false; reopen_unpaid?: false }?][])
    test(why, () => {
      const { active = true, ...other } = whose ?? {}
      expect(opened(payment, past, at, { active, settings: { ...settings, ...other } })).toBeUndefined()
    })
})
