import type { Actor } from '../../core/access/audit.ts'
import { customerMessageIds } from '../../core/message/message.ts'
import { figureIn } from '../../core/money.ts'
import type { Payment } from '../../core/payment/payment.ts'
import {
  type Patterns,
  patternsOf,
  type Person,
  spellingOf,
  textsNaming,
} from '../../core/redaction/redact.ts'
import type { Db } from '../../store/db.ts'
import { messagesByIds } from '../../store/messages/messageList.ts'
import { attemptsOf, attemptsOfMany } from '../../store/payments/attempts.ts'
import { eventsOf } from '../../store/payments/events.ts'
import { type PaymentKey, paymentName } from '../../store/payments/paymentKeys.ts'
import { readPayments } from '../../store/payments/paymentSearch.ts'
import { tasksOf } from '../../store/payments/tasks.ts'
import {
  findTraces,
  notes,
  ofPayments,
  paymentRows,
  paymentTexts,
  readTexts,
  type Trace,
  type TracedTable,
  withKeys,
} from '../../store/redaction/personTraces.ts'
import { type FreeTextRow, freeTexts, freeTextsOf } from '../../store/redaction/freeTexts.ts'
import { listMerchants } from '../../store/merchants/merchants.ts'
import { answersOf, bodiesOf, deliveriesOf } from '../../store/redaction/redaction.ts'
import { refundsOfPayments } from '../../store/refunds/merchantRefunds.ts'
import { audited } from '../access/audit.ts'
import { aliasesOfPerson, allPaymentsOfPerson, personEntry } from './person.ts'
import { messagesAbout, ownedBy } from './redact.ts'

const atOnce = 50
const readAtOnce = 2000 // rows
const textsAtOnce = 100

// Everything about a person, as the text of one JSON document. It is recorded before the first byte about the person is sent,
// without the number or address. `open` gives a database with a new deadline for each batch.
//
// Each batch that is read yields something, at least the white space that JSON allows between values. Otherwise a proxy
// closes the connection of a long search, and one that the browser has cancelled goes on until something is found.
//
// First the payments that an index finds, then those that only have the person in a message or an attempt, then texts about
// payments of other people, which an operator reads before handing them over: they may name other people too.
export async function* exportPerson(
  open: () => Db,
  person: Person,
  actor: Actor,
  now: Date,
): AsyncGenerator<string> {
  const found = new Map<string, PaymentKey>() // only their keys are in memory
  for await (const some of allPaymentsOfPerson(open, person, now)) {
    for (const key of some) found.set(paymentName(key), key)
    yield '\n'
  }
  const keys = [...found.values()]
  await audited(open(), actor, now, (_, record) =>
    record(personEntry('person.export', person, { payments: keys.length })),
  )
  const own = spellingOf(person)
  const exported = new Set<string>()
  const write = async (payments: readonly PaymentKey[]) => {
    const first = exported.size === 0
    for (const payment of payments) exported.add(paymentName(payment))
    const data = payments.length > 0 ? await exportPayments(open(), payments) : []
    return data.map((one, at) => `${first && at === 0 ? '' : ','}\n${JSON.stringify(one)}`).join('')
  }
  yield `{"${person.kind}":${JSON.stringify(person.value)},"exported_at":"${now.toISOString()}","payments":[`
  for (let at = 0; at < keys.length; at += atOnce) yield write(keys.slice(at, at + atOnce))
  const others = new Map<string, PaymentKey>()
  for await (const { merchant_id, traces } of scan(open, paymentRows, patternsOf([own]).rough)) {
    yield '\n'
    const references = new Set(traces.flatMap(({ tx_reference }) => tx_reference ?? []))
    const fresh = [...references]
      .map(tx_reference => ({ merchant_id, tx_reference }))
      .filter(key => !exported.has(paymentName(key)) && !others.has(paymentName(key)))
    for (let at = 0; at < fresh.length; at += atOnce) {
      const some = fresh.slice(at, at + atOnce)
      const theirs = await ownAmong(open(), person, some)
      for (const key of some) if (!theirs.has(paymentName(key))) others.set(paymentName(key), key)
      yield write(some.filter(key => theirs.has(paymentName(key))))
    }
  }
  yield '\n],"mentions":['
  let mentions = 0
  const writeTexts = (about: { table: string; merchant_id: string }, rows: TextRows, { exact }: Patterns) =>
    rows
      .flatMap(({ reference, texts }) => {
        const naming = textsNaming(texts, exact)
        return naming ? [{ ...about, reference, ...naming }] : []
      })
      .map(mention => `${mentions++ > 0 ? ',' : ''}\n${JSON.stringify(mention)}`)
      .join('')
  for (const [merchant_id, references] of byMerchant(others.values()))
    for (let at = 0; at < references.length; at += atOnce)
      for (const of of Object.values(paymentTexts)) {
        const rows = ofPayments(references.slice(at, at + atOnce))
        const texts = await readTexts(open(), of, merchant_id, rows)
        yield writeTexts({ table: of.table, merchant_id }, texts, patternsOf([own]))
      }
  const named = patternsOf([own, ...(await aliasesOfPerson(open(), person, now))])
  for await (const { merchant_id, of, traces } of scan(open, notes, named.rough)) {
    yield '\n'
    const about = traces.filter(
      ({ tx_reference }) => !tx_reference || !exported.has(paymentName({ merchant_id, tx_reference })),
    )
    for (let at = 0; at < about.length; at += textsAtOnce) {
      const rows = withKeys(of, about.slice(at, at + textsAtOnce))
      yield writeTexts(
        { table: of.table, merchant_id },
        await readTexts(open(), of, merchant_id, rows),
        named,
      )
    }
  }
  yield '\n]}\n'
}

type TextRows = Awaited<ReturnType<typeof readTexts>>

function byMerchant(keys: Iterable<PaymentKey>) {
  const references = new Map<string, string[]>()
  for (const { merchant_id, tx_reference } of keys) {
    const own = references.get(merchant_id) ?? []
    references.set(merchant_id, own)
    own.push(tx_reference)
  }
  return references
}

async function ownAmong(db: Db, person: Person, keys: readonly PaymentKey[]) {
  const payments = await readPayments(db, keys)
  const attempts = await attemptsOfMany(db, keys)
  const { messages } = await messagesAbout(db, payments)
  return ownedBy(db, person, payments, { attempts, messages })
}

async function* scan(open: () => Db, tables: readonly TracedTable[], pattern: string) {
  const merchants = await listMerchants(open())
  for (const of of tables)
    for (const { merchant_id } of merchants)
      for (let behind: readonly string[] | undefined = []; behind; ) {
        const found: Trace[] = await findTraces(open(), of, {
          merchant_id,
          behind,
          pattern,
          limit: readAtOnce,
        })
        yield { of, merchant_id, traces: found.filter(({ is_found }) => is_found) }
        behind = found.at(-1)?.key
      }
}

async function exportPayments(db: Db, keys: readonly PaymentKey[]) {
  const payments = await readPayments(db, keys)
  const refunds = await refundsOfPayments(db, keys)
  const bodies = await bodiesOf(db, keys)
  const deliveries = await deliveriesOf(db, keys)
  const answers = await answersOf(db, keys)
  const all = await attemptsOfMany(db, keys)
  const moneyBack = {
    approvals: await freeTextsOf(db, freeTexts.approvals, keys, all),
    reversals: await freeTextsOf(db, freeTexts.reversals, keys, all),
    disputes: await freeTextsOf(db, freeTexts.disputes, keys, all),
  }
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
          payer: a.payer,
          step: a.step,
          redirect_url: a.redirect_url,
          qr: a.qr,
          provider_text: a.provider_text,
          psp_response_msg: a.psp_response_msg,
          created_at: a.created_at,
        })),
        events: events.map(({ kind, reason, at }) => ({ kind, reason, at })),
        refunds: own.map(r => ({
          amount: figureIn(r.amount, r.currency),
          currency: r.currency,
          state: r.state,
          reason: r.reason,
          state_reason: r.state_reason,
          provider_code: r.provider_code,
          recorded_reference: r.recorded_reference,
          created_at: r.created_at,
        })),
        tasks: tasks.map(({ kind, note, closed_note, ...task }) => ({
          kind,
          note,
          closed_note,
          owner_note: 'owner_note' in task ? task.owner_note : '',
        })),
        ...ofPayment(moneyBack, payment),
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
        deliveries: deliveries
          .filter(one => paymentName(one) === paymentName(payment))
          .map(({ sequence, url }) => ({ sequence, url })),
        answers: answers
          .filter(one => paymentName(one) === paymentName(payment))
          .map(({ sequence, address, words, answer }) => ({ sequence, address, words, answer })),
      }
    }),
  )
}

const inPayment = new Set(['merchant_id', 'tx_reference', 'attempt_id'])

const ofPayment = (lists: Readonly<Record<string, readonly FreeTextRow[]>>, payment: PaymentKey) =>
  Object.fromEntries(
    Object.entries(lists).map(([name, rows]) => [
      name,
      rows
        .filter(row => paymentName(row) === paymentName(payment))
        .map(row => Object.fromEntries(Object.entries(row).filter(([column]) => !inPayment.has(column)))),
    ]),
  )

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
  success_url: p.success_url,
  cancelled_url: p.cancelled_url,
  deferred_url: p.deferred_url,
  ipn_url: p.ipn_url,
  psp_response_msg: p.psp_response_msg,
  pymt_instrument: p.pymt_instrument,
  payment_method: p.payment_method,
  payment_instrument: p.payment_instrument,
  extra: p.extra,
  redacted_at: p.redacted_at,
})
