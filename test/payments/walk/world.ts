import type { Reply } from '../../../src/core/provider/reply.ts'
import { keepLaterPoll } from '../../../src/core/payment/applyReply.ts'
import { type Attempt, isUnresolved } from '../../../src/core/payment/attempt.ts'
import { begin } from '../../../src/core/payment/begin.ts'
import type { NewEvent } from '../../../src/core/payment/event.ts'
import { firstPollAfter } from '../../../src/core/payment/pollSchedule.ts'
import { type DisputeRecord, type MoneyBack, noMoneyBack } from '../../../src/core/payment/moneyBack.ts'
import { sentAgain } from '../../../src/core/payment/sendAgain.ts'
import type { Task } from '../../../src/core/payment/task.ts'
import { after, anAttempt, aPayment, noon, notSent, seconds, unclear } from '../../support/payments/rows.ts'
import type { Life } from './faults.ts'
import { absentForMs, type Manner, plain } from './manners.ts'
import * as model from './model.ts'
import { newsOf } from './news.ts'
import { createProvider, type Entry, oddly, onItsWayMs, type Provider } from './provider.ts'
import { rules as ours } from './rules.ts'
import { isLost, type Leaving, type Luck, type Message, type Process, type Trip } from './wire.ts'

const settings = { retry_after_failure: true, reopen_unpaid: true, expiry_minutes: 60 }
const merchant = { active: true, settings }
const leaseMs = seconds(50)

const idOf = (number: number) => `ama0000000-${number}`

// One payment, its providers, the nodes, and what is on its way between them, in memory. The rules are the program's;
// where the program stores, this keeps.
export function createWorld(manners: readonly Manner[] = [plain], rules = ours) {
  const life: Life = {
    payment: aPayment(),
    attempts: [],
    events: [],
    tasks: [],
    reversals: [],
    disputes: [],
  }
  const table = model.newModel()
  const providers = manners.map(createProvider)
  const nodes: [Process, Process] = [{ isDead: false }, { isDead: false }]
  const wire: Message[] = []
  const broken: string[] = []
  const typedAt = new Map<string, number>()
  let now = noon
  let happened = 0

  const find = (id: string) => life.attempts.find(({ attempt_id }) => attempt_id === id) as Attempt
  const providerOf = (id: string) =>
    providers.find(({ manner }) => manner.name === find(id).provider_account) as Provider
  const entryOf = (id: string) => providerOf(id).books.get(id)
  const books = () => new Map<string, Entry>(providers.flatMap(provider => [...provider.books]))
  function put(attempt: Attempt) {
    life.attempts = life.attempts.map(a => (a.attempt_id === attempt.attempt_id ? attempt : a))
  }
  function note(events: NewEvent[], tasks: Task[] = []) {
    const { merchant_id, tx_reference } = life.payment
    for (const one of events)
      life.events.push({ ...one, merchant_id, tx_reference, sequence: life.events.length + 1 })
    const isNew = (task: Task) =>
      !life.tasks.some(({ attempt_id, kind }) => attempt_id === task.attempt_id && kind === task.kind)
    life.tasks.push(...tasks.filter(isNew))
  }

  const trip = (asked: Attempt, from: Process): Trip => {
    const sent = now.getTime()
    return { id: asked.attempt_id, asked, at: ++happened, from, sent, began: sent }
  }

  // Nothing leaves us where the line is dead from the start, and we know it.
  function send(asked: Attempt, from: Process, leaving: Leaving) {
    const tripping = trip(asked, from)
    if (leaving === 'leaves') wire.push({ kind: 'order', ...tripping })
    if (leaving === 'refused') wire.push({ kind: 'reply', reply: notSent, isQuestion: false, ...tripping })
  }

  function pay(number: number, { manner }: Provider, node: Process, leaving: Leaving) {
    const { payment, attempts } = life
    if (number <= attempts.length) return // the same form came twice
    if (rules.whyNotStart(payment, attempts, merchant, number, now)) return
    if (!model.mayBegin(table)) broken.push('an attempt began where the table has none')
    const attempt = anAttempt({
      attempt_id: idOf(number),
      number,
      provider_account: manner.name,
      created_at: now,
      updated_at: now,
      next_poll_at: after(firstPollAfter(manner.timing), now),
    })
    life.attempts = [...attempts, attempt]
    const begun = begin(payment, attempt, 'customer')
    note(begun.events)
    life.payment = begun.payment
    model.begin(table, attempt.attempt_id)
    send(attempt, node, leaving)
  }

  // What comes to a provider is answered, and the answer may get lost, or say what nobody understands.
  function arrive(message: Message & Trip, { hidden, isClear, isOdd, asks }: Luck) {
    const provider = providerOf(message.id)
    const said = answer(provider, message, hidden, asks)
    const isOddly = isOdd && said.state !== 'absent' && provider.manner.hasOddWords
    const reply = isClear ? (isOddly ? oddly : said) : unclear
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
    if (message.kind === 'order') return provider.take(id, life.payment.total, ms, hidden, { asks })
    if (message.kind === 'typed') return provider.type(id, message.code, ms)
    const isOpen = isUnresolved(asked) && asked.state !== 'disputed'
    const verb = asked.gave_up_at && isOpen && provider.manner.canWithdraw ? 'withdraw' : 'look'
    return verb === 'look' ? provider.look(id, ms, asked.check_reversals) : provider.withdraw(id, ms)
  }

  // A worker takes what is due, and asks.
  function ask(node: Process) {
    const due = life.attempts.find(({ next_poll_at }) => next_poll_at && next_poll_at <= now)
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

  // Whoever gives it up asks at once, or dies before.
  function giveUp(number: number, node: Process, asks: boolean) {
    const given = rules.giveUp(life.payment, life.attempts, { number, gave_up_for: 'method' }, now)
    model.giveUp(table, idOf(number))
    if (!given) return
    put(given.attempt)
    note(given.events)
    if (asks) question(given.attempt, node)
  }

  // Whoever types is of the page that was made for this number of the attempt and of what was typed before.
  function type(page: Pick<Attempt, 'number' | 'submits'>, code: string, node: Process, leaving: Leaving) {
    const id = idOf(page.number)
    const { timing: pace = {} } = life.attempts[page.number - 1] ? providerOf(id).manner : {}
    const decided = rules.submit(life.payment, life.attempts, page, pace, now)
    const submitted = decided && 'attempt' in decided ? decided : undefined
    if ((submitted !== undefined) !== model.mayType(table, id, page.submits, now.getTime()))
      broken.push(
        submitted ? 'typed where the table has nothing to type' : 'not taken what the table lets type',
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

  // What the provider has never heard of may be sent again, by whoever has asked.
  function sendAgain({ asked, from }: Trip, leaves: boolean): boolean {
    const { startIsIdempotent } = providerOf(asked.attempt_id).manner
    const held = find(asked.attempt_id)
    if (held.sends !== asked.sends || !rules.maySendAgain(life.payment, held, startIsIdempotent, now))
      return false
    const sending = sentAgain(held, now)
    put(sending)
    send(
      { ...sending, polls: asked.polls, next_poll_at: asked.next_poll_at },
      from,
      leaves ? 'leaves' : 'refused',
    )
    return true
  }

  function listen(message: Message & { kind: 'reply' }, leaves: boolean) {
    const { id, reply, asked, isQuestion } = message
    const isSendable = reply.state === 'absent' || reply.state === 'not_sent'
    if (isQuestion && isSendable && sendAgain(message, leaves)) return
    const before = find(id)
    const { manner } = providerOf(id)
    const { lifetimeMs, failureMayReverseForMs, timing } = manner
    const times = { absentForMs: absentForMs(manner), lifetimeMs, failureMayReverseForMs, timing }
    const askedAt = new Date(message.began)
    const worth = { ...times, askedAt, sends: asked.sends, submits: asked.submits }
    const news = newsOf(table, life.payment, before, message, {
      now,
      absentForMs: times.absentForMs,
      stored: storedOf(id),
    })
    const wasPaid = before.state === 'paid'
    const change = rules.applyReply(life.payment, before, reply, now, worth, storedOf(id))
    const { payment, attempt, events, tasks } = change
    life.payment = payment
    put(keepLaterPoll(attempt, before, asked))
    note(events, tasks)
    keep(change.moneyBack)
    const again = rules.applyReply(payment, attempt, reply, now, worth, storedOf(id))
    const leavesDisputes = !wasPaid && attempt.state === 'paid' && again.moneyBack !== undefined // asked for next
    if ((again.events.length > 0 && !leavesDisputes) || again.payment.status !== payment.status)
      broken.push(`${reply.state} said again to a ${attempt.state} attempt is ${again.events[0]?.kind}`)
    if (isSendable && isUnresolved(before) && !isUnresolved(attempt) && mayStillCome(id))
      broken.push(`${id} failed while its order may still arrive, or is there`)
    model.tell(table, id, news, message.at < (typedAt.get(id) ?? 0))
    if (reply.state === 'paid' && (wasPaid || news !== 'yes')) model.moneyBack(table, id, reply)
  }

  const mayStillCome = (id: string) =>
    entryOf(id) !== undefined ||
    wire.some(one => one.kind === 'order' && one.id === id && !isLost(one, now.getTime(), onItsWayMs))

  function knock(id: string) {
    const attempt = find(id)
    const entry = entryOf(id)
    if (entry) entry.knocks = false
    if (attempt.state === 'paid') return
    const soonest = attempt.next_poll_at ? Math.min(now.getTime(), attempt.next_poll_at.getTime() - 1) : now
    put({ ...attempt, next_poll_at: new Date(soonest) })
  }

  // A webhook about a refund or a dispute prompts a question, also about what is paid.
  function askForRefunds(id: string) {
    const attempt = find(id)
    const soonest = attempt.next_poll_at ? Math.min(now.getTime(), attempt.next_poll_at.getTime() - 1) : now
    put({ ...attempt, check_reversals: true, next_poll_at: new Date(soonest) })
  }

  const storedOf = (id: string): MoneyBack => ({
    reversals: life.reversals.filter(({ attempt_id }) => attempt_id === id),
    disputes: life.disputes.filter(({ attempt_id }) => attempt_id === id),
  })

  function keep(records: MoneyBack = noMoneyBack) {
    life.reversals = [...life.reversals, ...records.reversals]
    const isKept = (one: DisputeRecord) =>
      !records.disputes.some(d => d.attempt_id === one.attempt_id && d.dispute_id === one.dispute_id)
    life.disputes = [...life.disputes.filter(isKept), ...records.disputes]
  }

  function end(by: 'customer' | 'clock') {
    const ended = (by === 'customer' ? rules.cancel : rules.expire)(life.payment, life.attempts, now)
    if (by === 'customer') model.cancel(table)
    else if (life.payment.expires_at <= now) model.expire(table)
    if (!ended) return
    life.payment = ended.payment
    note(ended.events)
  }

  function repeat() {
    const { payment, attempts, tasks, events } = life
    const opened = rules.reopen(payment, { attempts, tasks, events }, merchant, now)
    if (table.status === 'cancelled' || payment.expires_at <= now) model.reopen(table)
    if (!opened) return
    life.payment = opened.payment
    note(opened.events)
  }

  function deliver(message: Message, luck: Luck) {
    happened++
    if (isLost(message, now.getTime(), onItsWayMs)) return
    if (message.kind === 'reply') listen(message, luck.leaves)
    else if (message.kind === 'callback') knock(message.id)
    else if (message.kind === 'news') askForRefunds(message.id)
    else arrive(message, luck)
  }

  function crash(which: 0 | 1) {
    nodes[which].isDead = true
    nodes[which] = { isDead: false }
  }

  const wait = (ms: number) => (now = after(ms, now))
  const clock = () => now
  const seen = { life, table, providers, nodes, wire, broken, books, entryOf, clock }
  return { ...seen, pay, ask, giveUp, type, end, repeat, deliver, crash, wait }
}

export type World = ReturnType<typeof createWorld>
