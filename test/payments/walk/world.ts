import { keepLaterPoll } from '../../../src/core/payment/applyReply.ts'
import { type Attempt, isUnresolved, sentAgain } from '../../../src/core/payment/attempt.ts'
import {
  type DisputeRecord,
  type MoneyBack,
  type NewEvent,
  noMoneyBack,
  type Task,
} from '../../../src/core/payment/change.ts'
import { decideBegin } from '../../../src/core/payment/customerActs.ts'
import { firstPollAfter } from '../../../src/core/payment/pollSchedule.ts'
import type { Reply } from '../../../src/core/provider/reply.ts'
import { after, anAttempt, aPayment, noon, notSent, seconds, unclear } from '../../support/payments/rows.ts'
import type { PaymentRecord } from './faults.ts'
import { absentForMs, type Behaviour, plain } from './behaviours.ts'
import * as model from './model.ts'
import { createProvider, type Entry, unknownCodeReply, onItsWayMs, type Provider } from './provider.ts'
import { rules as ours } from './rules.ts'
import { isLost, reportOf, type Leaving, type Luck, type Message, type Process, type Trip } from './wire.ts'

const settings = { retry_after_failure: true, reopen_unpaid: true, expiry_minutes: 60 }
const merchant = { active: true, settings }
const leaseMs = seconds(50)

const idOf = (number: number) => `ama0000000-${number}`

// One payment, its providers, the nodes and the messages between them, all in memory. The rules are those of the
// program; only storage is replaced.
export function createWorld(behaviours: readonly Behaviour[] = [plain], rules = ours) {
  const record: PaymentRecord = {
    payment: aPayment(),
    attempts: [],
    events: [],
    tasks: [],
    reversals: [],
    disputes: [],
  }
  const table = model.newModel()
  const providers = behaviours.map(createProvider)
  const nodes: [Process, Process] = [{ isDead: false }, { isDead: false }]
  const wire: Message[] = []
  const broken: string[] = []
  const typedAt = new Map<string, number>()
  let now = noon
  let happened = 0

  const find = (id: string) => record.attempts.find(({ attempt_id }) => attempt_id === id) as Attempt
  const providerOf = (id: string) =>
    providers.find(({ behaviour }) => behaviour.name === find(id).provider_account) as Provider
  const entryOf = (id: string) => providerOf(id).orders.get(id)
  const orders = () => new Map<string, Entry>(providers.flatMap(provider => [...provider.orders]))
  function put(attempt: Attempt) {
    record.attempts = record.attempts.map(a => (a.attempt_id === attempt.attempt_id ? attempt : a))
  }
  function note(events: NewEvent[], tasks: Task[] = []) {
    const { merchant_id, tx_reference } = record.payment
    for (const one of events)
      record.events.push({ ...one, merchant_id, tx_reference, sequence: record.events.length + 1 })
    const isNew = (task: Task) =>
      !record.tasks.some(({ attempt_id, kind }) => attempt_id === task.attempt_id && kind === task.kind)
    record.tasks.push(...tasks.filter(isNew))
  }

  const trip = (asked: Attempt, from: Process): Trip => {
    const sent = now.getTime()
    return { id: asked.attempt_id, asked, at: ++happened, from, sent, began: sent }
  }

  // If the connection is refused, nothing is sent and the node notices it.
  function send(asked: Attempt, from: Process, leaving: Leaving) {
    const tripping = trip(asked, from)
    if (leaving === 'leaves') wire.push({ kind: 'order', ...tripping })
    if (leaving === 'refused') wire.push({ kind: 'reply', reply: notSent, isQuestion: false, ...tripping })
  }

  function pay(number: number, { behaviour }: Provider, node: Process, leaving: Leaving) {
    const { payment, attempts } = record
    if (number <= attempts.length) return // the same form was sent twice
    if (rules.whyNotStart(payment, attempts, merchant, number, now)) return
    if (!model.mayBegin(table)) broken.push('an attempt began where the model allows none')
    const attempt = anAttempt({
      attempt_id: idOf(number),
      number,
      provider_account: behaviour.name,
      created_at: now,
      updated_at: now,
      next_poll_at: after(firstPollAfter(behaviour.timing), now),
    })
    record.attempts = [...attempts, attempt]
    const begun = decideBegin(payment, attempt, 'customer')
    note(begun.events)
    record.payment = begun.payment
    model.begin(table, attempt.attempt_id)
    send(attempt, node, leaving)
  }

  // A provider answers each message. The reply may get lost, or contain an unknown code.
  function arrive(message: Message & Trip, { hidden, isClear, isUnknown, asks }: Luck) {
    const provider = providerOf(message.id)
    const said = answer(provider, message, hidden, asks)
    const isUnknownCode = isUnknown && said.state !== 'absent' && provider.behaviour.sendsUnknownCodes
    const reply = isClear ? (isUnknownCode ? unknownCodeReply : said) : unclear
    wire.push({
      ...message,
      kind: 'reply',
      reply,
      isQuestion: message.kind === 'question',
      sent: now.getTime(),
    })
  }

  function answer(provider: Provider, message: Message & Trip, hidden: number, asks: boolean): Reply {
    const { id, asked } = message
    const ms = now.getTime()
    if (message.kind === 'order') return provider.take(id, record.payment.total, ms, hidden, { asks })
    if (message.kind === 'typed') return provider.type(id, message.code, ms)
    const isOpen = isUnresolved(asked) && asked.state !== 'disputed'
    const verb = asked.gave_up_at && isOpen && provider.behaviour.canWithdraw ? 'withdraw' : 'look'
    return verb === 'look' ? provider.look(id, ms, asked.check_reversals) : provider.withdraw(id, ms)
  }

  // A worker leases what is due and polls the provider.
  function ask(node: Process) {
    const due = record.attempts.find(({ next_poll_at }) => next_poll_at && next_poll_at <= now)
    if (!due) return
    const asked = { ...due, polls: due.polls + 1, next_poll_at: after(leaseMs, now) }
    put(asked)
    question(asked, node)
  }

  function question(asked: Attempt, node: Process) {
    const tripping = trip(asked, node)
    if (asked.state === 'not_sent')
      wire.push({ kind: 'reply', reply: notSent, isQuestion: true, ...tripping })
    else wire.push({ kind: 'question', ...tripping })
  }

  // The node that records the give-up polls at once, or crashes before it can.
  function giveUp(number: number, node: Process, asks: boolean) {
    const given = rules.giveUp(record.payment, record.attempts, { number, gave_up_for: 'method' }, now)
    model.giveUp(table, idOf(number))
    if (!given) return
    put(given.attempt)
    note(given.events)
    if (asks) question(given.attempt, node)
  }

  // The page belongs to one attempt number and to one number of submissions.
  function type(page: Pick<Attempt, 'number' | 'submits'>, code: string, node: Process, leaving: Leaving) {
    const id = idOf(page.number)
    const { timing = {} } = record.attempts[page.number - 1] ? providerOf(id).behaviour : {}
    const decided = rules.submit(record.payment, record.attempts, page, timing, now)
    const submitted = decided && 'attempt' in decided ? decided : undefined
    if ((submitted !== undefined) !== model.mayType(table, id, page.submits, now.getTime()))
      broken.push(
        submitted ? 'submitted where the model allows no input' : 'refused input that the model allows',
      )
    if (!submitted) return
    put(submitted.attempt)
    note(submitted.events)
    model.type(table, id, now.getTime())
    typedAt.set(id, ++happened)
    const tripping = trip(submitted.attempt, node)
    if (leaving === 'leaves') wire.push({ kind: 'typed', code, ...tripping })
    if (leaving === 'refused') wire.push({ kind: 'reply', reply: unclear, isQuestion: false, ...tripping })
  }

  // An order that the provider does not have may be sent again by the node that polled.
  function sendAgain({ asked, from }: Trip, leaves: boolean): boolean {
    const { startIsIdempotent } = providerOf(asked.attempt_id).behaviour
    const stored = find(asked.attempt_id)
    if (stored.sends !== asked.sends || !rules.maySendAgain(record.payment, stored, startIsIdempotent, now))
      return false
    const sending = sentAgain(stored, now)
    put(sending)
    send(
      { ...sending, polls: asked.polls, next_poll_at: asked.next_poll_at },
      from,
      leaves ? 'leaves' : 'refused',
    )
    return true
  }

  function receive(message: Message & { kind: 'reply' }, leaves: boolean) {
    const { id, reply, asked, isQuestion } = message
    const isSendable = reply.state === 'absent' || reply.state === 'not_sent'
    if (isQuestion && isSendable && sendAgain(message, leaves)) return
    const before = find(id)
    const { behaviour } = providerOf(id)
    const { lifetimeMs, failureMayReverseForMs, timing } = behaviour
    const times = { absentForMs: absentForMs(behaviour), lifetimeMs, failureMayReverseForMs, timing }
    const askedAt = new Date(message.began)
    const context = { ...times, askedAt, sends: asked.sends, submits: asked.submits }
    const report = reportOf(table, record.payment, before, message, {
      now,
      absentForMs: times.absentForMs,
      stored: storedOf(id),
    })
    const wasPaid = before.state === 'paid'
    const change = rules.applyReply(record.payment, before, reply, now, context, storedOf(id))
    const { payment, attempt, events, tasks } = change
    record.payment = payment
    put(keepLaterPoll(attempt, before, asked))
    note(events, tasks)
    keep(change.moneyBack)
    const again = rules.applyReply(payment, attempt, reply, now, context, storedOf(id))
    const leavesDisputes = !wasPaid && attempt.state === 'paid' && again.moneyBack !== undefined // asked for next
    if ((again.events.length > 0 && !leavesDisputes) || again.payment.status !== payment.status)
      broken.push(`${reply.state} said again to a ${attempt.state} attempt is ${again.events[0]?.kind}`)
    if (isSendable && isUnresolved(before) && !isUnresolved(attempt) && mayStillCome(id))
      broken.push(`${id} failed while its order may still arrive, or is there`)
    model.applyReport(table, id, report, message.at < (typedAt.get(id) ?? 0))
    if (reply.state === 'paid' && (wasPaid || report !== 'yes')) model.moneyBack(table, id, reply)
  }

  const mayStillCome = (id: string) =>
    entryOf(id) !== undefined ||
    wire.some(one => one.kind === 'order' && one.id === id && !isLost(one, now.getTime(), onItsWayMs))

  function callBack(id: string) {
    const attempt = find(id)
    const entry = entryOf(id)
    if (entry) entry.callsBack = false
    if (attempt.state === 'paid') return
    const soonest = attempt.next_poll_at ? Math.min(now.getTime(), attempt.next_poll_at.getTime() - 1) : now
    put({ ...attempt, next_poll_at: new Date(soonest) })
  }

  // A webhook about a refund or a dispute causes a poll, also of a paid attempt.
  function askForRefunds(id: string) {
    const attempt = find(id)
    const soonest = attempt.next_poll_at ? Math.min(now.getTime(), attempt.next_poll_at.getTime() - 1) : now
    put({ ...attempt, check_reversals: true, next_poll_at: new Date(soonest) })
  }

  const storedOf = (id: string): MoneyBack => ({
    reversals: record.reversals.filter(({ attempt_id }) => attempt_id === id),
    disputes: record.disputes.filter(({ attempt_id }) => attempt_id === id),
  })

  function keep(records: MoneyBack = noMoneyBack) {
    record.reversals = [...record.reversals, ...records.reversals]
    const isKept = (one: DisputeRecord) =>
      !records.disputes.some(d => d.attempt_id === one.attempt_id && d.dispute_id === one.dispute_id)
    record.disputes = [...record.disputes.filter(isKept), ...records.disputes]
  }

  function end(by: 'customer' | 'clock') {
    const ended = (by === 'customer' ? rules.cancel : rules.expire)(record.payment, record.attempts, now)
    if (by === 'customer') model.cancel(table)
    else if (record.payment.expires_at <= now) model.expire(table)
    if (!ended) return
    record.payment = ended.payment
    note(ended.events)
  }

  function repeat() {
    const { payment, attempts, tasks, events } = record
    const opened = rules.reopen(payment, { attempts, tasks, events }, merchant, now)
    if (table.status === 'cancelled' || payment.expires_at <= now) model.reopen(table)
    if (!opened) return
    record.payment = opened.payment
    note(opened.events)
  }

  function deliver(message: Message, luck: Luck) {
    happened++
    if (isLost(message, now.getTime(), onItsWayMs)) return
    if (message.kind === 'reply') receive(message, luck.leaves)
    else if (message.kind === 'callback') callBack(message.id)
    else if (message.kind === 'refund_webhook') askForRefunds(message.id)
    else arrive(message, luck)
  }

  function crash(which: 0 | 1) {
    nodes[which].isDead = true
    nodes[which] = { isDead: false }
  }

  const wait = (ms: number) => (now = after(ms, now))
  const clock = () => now
  const seen = { record, table, providers, nodes, wire, broken, orders, entryOf, clock }
  return { ...seen, pay, ask, giveUp, type, end, repeat, deliver, crash, wait }
}

export type World = ReturnType<typeof createWorld>
