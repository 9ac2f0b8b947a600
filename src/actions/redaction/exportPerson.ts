import type { Actor } from '../../core/access/audit.ts'
import { customerMessageIds } from '../../core/message/message.ts'
import { figureIn } from '../../core/money.ts'
import type { Payment } from '../../core/payment/payment.ts'
import type { Person } from '../../core/redaction/redact.ts'
import type { Db } from '../../store/db.ts'
import { messagesByIds } from '../../store/messages/messageList.ts'
import { attemptsOf } from '../../store/payments/attempts.ts'
import { eventsOf } from '../../store/payments/events.ts'
import { type PaymentKey, paymentName } from '../../store/payments/paymentKeys.ts'
import { readPayments } from '../../store/payments/paymentSearch.ts'
import { tasksOf } from '../../store/payments/tasks.ts'
import { bodiesOf } from '../../store/redaction/redaction.ts'
import { refundsOfPayments } from '../../store/refunds/merchantRefunds.ts'
import { audited } from '../access/audit.ts'
import { paymentsOfPerson, personEntry } from './person.ts'

const maxExported = 5000 // payments of one person
const atOnce = 50

// Everything about a person, as the text of one JSON document. It is recorded before the first byte is sent, without the
// number or address. `open` gives a database with a new deadline for each batch.
export async function* exportPerson(
  open: () => Db,
  person: Person,
  actor: Actor,
  now: Date,
): AsyncGenerator<string> {
  const keys = await paymentsOfPerson(open(), person, now, maxExported)
  await audited(open(), actor, now, (_, record) => record(personEntry('person.export', person, keys.length)))
  yield `{"${person.kind}":${JSON.stringify(person.value)},"exported_at":"${now.toISOString()}","payments":[`
  for (let at = 0; at < keys.length; at += atOnce) {
    const exported = await exportPayments(open(), keys.slice(at, at + atOnce))
    yield (at > 0 ? ',' : '') + exported.map(one => `\n${JSON.stringify(one)}`).join(',')
  }
  yield '\n]}\n'
}

async function exportPayments(db: Db, keys: readonly PaymentKey[]) {
  const payments = await readPayments(db, keys)
  const refunds = await refundsOfPayments(db, keys)
  const bodies = await bodiesOf(db, keys)
  return Promise.all(
    payments.map(async payment => {
      const { merchant_id, tx_reference } = payment
      const own = refunds.get(paymentName(payment)) ?? []
      const ids = customerMessageIds(
        tx_reference,
        own.map(refund => refund.refund_reference),
      )
      const [attempts, events, tasks, messages] = await Promise.all([
        attemptsOf(db, merchant_id, tx_reference),
        eventsOf(db, merchant_id, tx_reference),
        tasksOf(db, merchant_id, tx_reference),
        messagesByIds(db, merchant_id, ids),
      ])
      return {
        ...paymentData(payment),
        attempts: attempts.map(a => ({
          number: a.number,
          payment_method: a.payment_method,
          state: a.state,
          instrument: a.instrument,
          given: a.given,
          created_at: a.created_at,
        })),
        events: events.map(({ kind, reason, at }) => ({ kind, reason, at })),
        refunds: own.map(r => ({
          amount: figureIn(r.amount, r.currency),
          currency: r.currency,
          state: r.state,
          reason: r.reason,
          created_at: r.created_at,
        })),
        tasks: tasks.map(({ kind, note, closed_note }) => ({ kind, note, closed_note })),
        messages: messages.map(({ medium, topic, recipient, state, created_at }) => ({
          medium,
          topic,
          recipient,
          state,
          created_at,
        })),
        notifications: bodies
          .filter(body => paymentName(body) === paymentName(payment))
          .map(({ body }) => JSON.parse(body) as unknown),
      }
    }),
  )
}

// No token and no digest: they open or identify things, and say nothing about the person.
const paymentData = (p: Payment) => ({
  merchant_id: p.merchant_id,
  reference: p.tx_reference,
  mode: p.mode,
  invoice_id: p.invoice_id,
  status: p.status,
  total: figureIn(p.total, p.currency),
  currency: p.currency,
  created_at: p.created_at,
  payment_time: p.payment_time,
  number: p.number,
  email: p.email,
  name: p.name,
  description: p.description,
  line_items: p.line_items,
  outlet: p.outlet,
  pymt_instrument: p.pymt_instrument,
  payment_method: p.payment_method,
  payment_instrument: p.payment_instrument,
  extra: p.extra,
  redacted_at: p.redacted_at,
})
