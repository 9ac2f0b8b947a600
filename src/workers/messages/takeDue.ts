import { inboxName, type Message } from '../../core/message/message.ts'
import {
  capWindowMs,
  countUnderCaps,
  mailboxOf,
  type MessageRules,
  overCaps,
  whyDropped,
} from '../../core/message/messageRules.ts'
import { dropped, keptInInbox, type MessageUpdate, sending } from '../../core/message/messageTries.ts'
import type { Medium } from '../../core/message/messenger.ts'
import { newLeaseToken } from '../../runtime/ids.ts'
import type { Db } from '../../store/db.ts'
import {
  countMessages,
  type MessageLease,
  saveMessageResults,
  takeDueMessages,
} from '../../store/messages/sending.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { findPaymentsByKeys, type PaymentWithMerchant } from '../../store/payments/paymentLife.ts'

const leaseMs = 5 * 60_000 // longer than the deadline of a messenger plus the time to save the result
const yieldMs = 2000

export type TakeTools = { db: Db; clock(): Date; random(): number; rules: MessageRules }
export type TakenMessage = Message & { lease_token: string; payment?: PaymentWithMerchant }
type TakenMessages = {
  found: number
  toSend: TakenMessage[]
  ended: { message: Message; state: Message['state']; words: string }[]
}

// Leases due messages and decides which are sent. Everything is committed before the first is sent, so they count under
// the caps by then. Each process runs this once at a time.
export async function takeDue(
  tools: TakeTools,
  medium: Medium,
  messenger: string | undefined,
  limit: number,
): Promise<TakenMessages> {
  const { db, clock } = tools
  const now = clock()
  const lease = { token: newLeaseToken(), until: new Date(now.getTime() + leaseMs), now }
  const due = await takeDueMessages(db, medium, lease, limit)
  if (due.length === 0) return { found: 0, toSend: [], ended: [] }
  const saved = await saveDecisions(db, await decide(tools, due, lease, messenger))
  const toSend = saved.filter(({ isSent }) => isSent).map(({ taken }) => taken)
  const postponed = toSend.length > 0 ? await postponeOverCaps(tools, toSend, now) : []
  return {
    found: due.length,
    toSend: toSend.filter(one => !postponed.includes(one)),
    ended: saved
      .filter(({ isSent }) => !isSent)
      .map(({ taken, update: { state, words } }) => ({ message: taken, state, words })),
  }
}

type Decision = { taken: TakenMessage; update: MessageUpdate; messenger?: string; isSent?: true }

async function decide(
  { db, rules }: TakeTools,
  due: readonly Message[],
  { token, until, now }: MessageLease,
  messenger: string | undefined,
): Promise<Decision[]> {
  const payments = await paymentsOf(db, due)
  const counts = messenger === undefined ? undefined : await count(db, due, now) // the inbox has no caps
  return due.map(message => {
    const payment = payments.get(paymentName(message))
    const taken = { ...message, lease_token: token, payment }
    const reason =
      whyDropped(message, payment?.status, rules, now) ?? (counts && countUnderCaps(counts, message, rules))
    if (reason) return { taken, update: dropped(reason, now) }
    if (messenger === undefined) return { taken, update: keptInInbox(now), messenger: inboxName }
    return { taken, update: sending(until, now), messenger, isSent: true }
  })
}

// Returns the decisions whose lease was still valid.
async function saveDecisions(db: Db, decisions: readonly Decision[]): Promise<Decision[]> {
  const results = decisions.map(({ taken, update, messenger = null, isSent = false }) => {
    const { merchant_id, message_id, lease_token } = taken
    const unanswered = taken.unanswered + (isSent ? 1 : 0)
    return { merchant_id, message_id, lease_token, ...update, messenger, unanswered, under_way: isSent }
  })
  const saved = new Set((await saveMessageResults(db, results)).map(messageName))
  return decisions.filter(({ taken }) => saved.has(messageName(taken)))
}

const messageName = ({ merchant_id, message_id }: Pick<Message, 'merchant_id' | 'message_id'>) =>
  `${merchant_id} ${message_id}`

// Other processes may have counted at the same time. After its own commit each process sees all of them, and postpones
// the messages that are too many. At their next try they fit, or the caps drop them. So the caps hold across processes.
async function postponeOverCaps({ db, rules, random }: TakeTools, taken: readonly TakenMessage[], now: Date) {
  const postponed = overCaps(taken, await count(db, taken, now), rules)
  const decisions = postponed.map(one => {
    const dueAgain = new Date(now.getTime() + yieldMs * (1 + random()))
    return { taken: one, update: { ...sending(dueAgain, now), sent_at: null } }
  })
  if (decisions.length > 0) await saveDecisions(db, decisions)
  return postponed
}

const paymentName = ({ merchant_id, tx_reference }: Pick<Message, 'merchant_id' | 'tx_reference'>) =>
  `${merchant_id} ${tx_reference}`

async function paymentsOf(db: Db, due: readonly Message[]) {
  const keys = due.filter((one): one is Message & PaymentKey => one.tx_reference !== null)
  const payments = keys.length > 0 ? await findPaymentsByKeys(db, keys) : []
  return new Map(payments.map(payment => [paymentName(payment), payment]))
}

const count = (db: Db, messages: readonly Message[], now: Date) =>
  countMessages(
    db,
    [...new Set(messages.map(({ recipient }) => mailboxOf(recipient)))],
    [...new Set(messages.map(({ merchant_id }) => merchant_id))],
    new Date(now.getTime() - capWindowMs),
  )
