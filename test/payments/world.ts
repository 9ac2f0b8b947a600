import type { Reply } from '../../src/core/channel/channel.ts'
import { applyReply, withTheirTime } from '../../src/core/payment/applyReply.ts'
import { type Attempt, isUnresolved } from '../../src/core/payment/attempt.ts'
import { begin } from '../../src/core/payment/begin.ts'
import { cancel, expire } from '../../src/core/payment/end.ts'
import type { NewEvent } from '../../src/core/payment/event.ts'
import { giveUp as decide } from '../../src/core/payment/giveUp.ts'
import { whyNotStart } from '../../src/core/payment/mayStart.ts'
import { firstPollMs, resendForMs } from '../../src/core/payment/pollSchedule.ts'
import { reopen } from '../../src/core/payment/reopen.ts'
import { maySendAgain, sentAgain } from '../../src/core/payment/sendAgain.ts'
import type { Task } from '../../src/core/payment/task.ts'
import { after, anAttempt, aPayment, minutes, noon, notSent, seconds, unclear } from '../support/lifeRows.ts'
import type { Life } from './faults.ts'
import * as model from './model.ts'
import { createProvider } from './provider.ts'

const wireLifeMs = minutes(10) // what was on its way for longer is lost
const settings = { retry_after_failure: true, reopen_unpaid: true, expiry_minutes: 60 }
const merchant = { active: true, settings }

const absentForMs = minutes(5)

type Asked = Pick<Attempt, 'asks' | 'next_ask_at' | 'sends'> // as it was when we asked

// What is on its way. Whatever is taken from here and not put back was lost, with the process or the line.
type Message =
  | { kind: 'order'; id: string; asked: Asked; sent: number }
  | { kind: 'reply'; id: string; reply: Reply; asked: Asked; sent: number }
  | { kind: 'callback'; id: string }

// One payment, its provider, which may know how to withdraw an order, and what is on its way between them, in memory. The rules are the program's; where the
// program stores, this keeps.
export function createWorld(canWithdraw = true) {
  const life: Life = { payment: aPayment(), attempts: [], events: [], tasks: [] }
  const table = model.newModel()
  const provider = createProvider()
  const wire: Message[] = []
  const broken: string[] = []
  let now = noon

  const find = (id: string) => life.attempts.find(({ attempt_id }) => attempt_id === id) as Attempt
  function put(attempt: Attempt) {
    life.attempts = life.attempts.map(a => (a.attempt_id === attempt.attempt_id ? attempt : a))
  }
  function note(events: NewEvent[], tasks: Task[] = []) {
    const { merchant_id, tx_reference } = life.payment
    for (const one of events)
      life.events.push({ ...one, merchant_id, tx_reference, sequence: life.events.length + 1 })
    for (const task of tasks)
      if (!life.tasks.some(({ attempt_id, kind }) => attempt_id === task.attempt_id && kind === task.kind))
        life.tasks.push(task)
  }

  // Nothing leaves us where the line is dead from the start, and we know it.
  function send(id: string, asked: Asked, leaves: boolean) {
    const sent = now.getTime()
    wire.push(
      leaves ? { kind: 'order', id, asked, sent } : { kind: 'reply', id, reply: notSent, asked, sent },
    )
  }

  function pay(number: number, leaves: boolean) {
    const { payment, attempts } = life
    if (number <= attempts.length) return // the same form came twice
    if (whyNotStart(payment, attempts, merchant, number, now)) return
    if (!model.mayBegin(table)) broken.push('an attempt began where the table has none')
    const id = `ama0000000-${number}`
    const next_ask_at = after(firstPollMs, now)
    const attempt = anAttempt({ attempt_id: id, number, created_at: now, updated_at: now, next_ask_at })
    life.attempts = [...attempts, attempt]
    const begun = begin(payment, attempt, 'customer')
    note(begun.events)
    life.payment = begun.payment
    model.begin(table, id)
    send(id, attempt, leaves)
  }

  // The order arrives at the provider, whose answer may get lost.
  function arrive({ id, asked, sent }: Message & { kind: 'order' }, hidden: number, isClear: boolean) {
    if (now.getTime() - sent > wireLifeMs) return
    const reply = provider.take(id, life.payment.total, now.getTime(), hidden)
    wire.push({ kind: 'reply', id, reply: isClear ? reply : unclear, asked, sent: now.getTime() })
  }

  // A worker takes what is due, and asks; or sends, where that may be.
  function ask(isClear: boolean, leaves: boolean) {
    const due = life.attempts.find(({ next_ask_at }) => next_ask_at && next_ask_at <= now)
    if (!due) return
    const asked = { ...due, asks: due.asks + 1, next_ask_at: after(seconds(20), now) }
    put(asked)
    question(asked, isClear, leaves)
  }

  function question(asked: Attempt, isClear: boolean, leaves: boolean) {
    const id = asked.attempt_id
    const isOpen = isUnresolved(asked) && asked.state !== 'disputed'
    const verb = asked.gave_up_at && isOpen && canWithdraw ? provider.withdraw : provider.look
    const said = () => verb(id, now.getTime()) // it may do so, and its answer be lost
    const reply = asked.state === 'not_sent' ? notSent : isClear ? said() : (said(), unclear)
    const isSendable = reply.state === 'absent' || reply.state === 'not_sent'
    if (isSendable && maySendAgain(life.payment, asked, true, now)) {
      const sending = sentAgain(asked, now)
      put(sending)
      send(id, sending, leaves)
    } else wire.push({ kind: 'reply', id, reply, asked, sent: now.getTime() })
  }

  // Whoever gives it up asks at once, or dies before.
  function giveUp(number: number, isClear: boolean, asks: boolean) {
    const given = decide(life.payment, life.attempts, { number, gave_up_for: 'way' }, now)
    model.giveUp(table, `ama0000000-${number}`)
    if (!given) return
    put(given.attempt)
    note(given.events)
    if (asks) question(given.attempt, isClear, false)
  }

  function listen({ id, reply, asked, sent }: Message & { kind: 'reply' }) {
    if (now.getTime() - sent > wireLifeMs) return
    const before = find(id)
    const worth = { absentForMs, livesForMs: absentForMs, sends: asked.sends }
    const news = newsOf(before, reply, asked)
    const { payment, attempt, events, tasks } = applyReply(life.payment, before, reply, now, worth)
    life.payment = payment
    put(withTheirTime(attempt, before, asked))
    note(events, tasks)
    const again = applyReply(payment, attempt, reply, now, worth)
    if (again.events.length > 0 || again.payment.status !== payment.status)
      broken.push(`${reply.state} said again to a ${attempt.state} attempt is ${again.events[0]?.kind}`)
    model.tell(table, id, news)
  }

  const newsOf = (before: Attempt, reply: Reply, asked: Asked): model.News => {
    const ageMs = now.getTime() - before.created_at.getTime()
    if (reply.state === 'paid') return reply.amount === life.payment.total ? 'yes' : 'other_amount'
    if (reply.state === 'failed') return 'no'
    if (reply.state === 'absent') {
      const isLong = ageMs >= absentForMs + (before.sends > 1 ? resendForMs : 0)
      return isLong ? 'never_there' : 'unclear'
    }
    if (reply.state === 'not_sent') {
      const isSo = !before.resent_at && before.sends === asked.sends
      const wantsIt = !table.wished && !table.tries.get(before.attempt_id)?.gaveUp
      const isOver = ageMs >= resendForMs || !wantsIt || table.status !== 'awaiting_payment'
      return isSo && isOver ? 'never_there' : 'unclear'
    }
    return reply.state === 'pending' ? 'pending' : 'unclear'
  }

  function knock(id: string) {
    const attempt = find(id)
    const entry = provider.books.get(id)
    if (entry) entry.knocks = false
    if (attempt.state === 'paid') return
    const soonest = attempt.next_ask_at ? Math.min(now.getTime(), attempt.next_ask_at.getTime() - 1) : now
    put({ ...attempt, next_ask_at: new Date(soonest) })
  }

  function end(by: 'customer' | 'clock') {
    const ended = (by === 'customer' ? cancel : expire)(life.payment, life.attempts, now)
    if (by === 'customer') model.cancel(table)
    else if (life.payment.expires_at <= now) model.expire(table)
    if (!ended) return
    life.payment = ended.payment
    note(ended.events)
  }

  function repeat() {
    const { payment, attempts, tasks, events } = life
    const opened = reopen(payment, { attempts, tasks, events }, merchant, now)
    if (table.status === 'cancelled' || payment.expires_at <= now) model.reopen(table)
    if (!opened) return
    life.payment = opened.payment
    note(opened.events)
  }

  function deliver(message: Message, hidden: number, isClear: boolean) {
    if (message.kind === 'order') arrive(message, hidden, isClear)
    else if (message.kind === 'reply') listen(message)
    else knock(message.id)
  }

  const wait = (ms: number) => (now = after(ms, now))
  const clock = () => now
  return { life, table, provider, wire, broken, clock, pay, ask, giveUp, end, repeat, deliver, wait }
}

export type World = ReturnType<typeof createWorld>
