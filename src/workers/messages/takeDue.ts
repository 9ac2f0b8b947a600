import { mailboxOf } from '../../core/message/mailbox.ts'
import { inboxName, type Message } from '../../core/message/message.ts'
import {
  capWindowMs,
  type MessageRules,
  takePlace,
  tooMany,
  whyNot,
} from '../../core/message/messageRules.ts'
import { dropped, kept, leaving } from '../../core/message/messageTries.ts'
import type { Medium } from '../../core/message/messenger.ts'
import { newLeaseToken } from '../../runtime/ids.ts'
import type { Db } from '../../store/db.ts'
import { type MessageLease, takeDueMessages } from '../../store/messages/dueMessages.ts'
import { countMessages } from '../../store/messages/messageCounts.ts'
import type { PaymentKey } from '../../store/payments/paymentKeys.ts'
import { findPaymentsByKeys } from '../../store/payments/paymentLife.ts'
import { type Decision, saveDecisions, type TakenMessage } from './saveDecisions.ts'

const leaseMs = 5 * 60_000 // longer than any messenger's deadline, and the time to write down what came of it
const giveWayMs = 2000

export type Taking = { db: Db; clock(): Date; random(): number; rules: MessageRules }
export type TakenMessages = {
  found: number
  toSend: TakenMessage[]
  ended: { message: Message; state: Message['state']; words: string }[]
}

// Takes messages that are due and decides which of them leave the house. All of it is committed before the first is
// sent; what leaves has its place under the caps by then. Called by one at a time in each process.
export async function takeDue(
  taking: Taking,
  medium: Medium,
  messenger: string | undefined,
  most: number,
): Promise<TakenMessages> {
  const { db, clock } = taking
  const now = clock()
  const lease = { token: newLeaseToken(), until: new Date(now.getTime() + leaseMs), now }
  const due = await takeDueMessages(db, medium, lease, most)
  if (due.length === 0) return { found: 0, toSend: [], ended: [] }
  const saved = await saveDecisions(db, await decide(taking, due, lease, messenger))
  const going = saved.filter(({ leaves }) => leaves).map(({ taken }) => taken)
  const back = going.length > 0 ? await giveBack(taking, going, now) : []
  return {
    found: due.length,
    toSend: going.filter(one => !back.includes(one)),
    ended: saved
      .filter(({ leaves }) => !leaves)
      .map(({ taken, ending: { state, words } }) => ({ message: taken, state, words })),
  }
}

async function decide(
  { db, rules }: Taking,
  due: readonly Message[],
  { token, until, now }: MessageLease,
  messenger: string | undefined,
): Promise<Decision[]> {
  const payments = await paymentsOf(db, due)
  const counts = messenger === undefined ? undefined : await count(db, due, now) // what stays here reaches nobody
  return due.map(message => {
    const payment = payments.get(paymentName(message))
    const taken = { ...message, lease_token: token, payment }
    const words =
      whyNot(message, payment?.status, rules, now) ?? (counts && takePlace(counts, message, rules))
    if (words) return { taken, ending: dropped(words, now) }
    if (messenger === undefined) return { taken, ending: kept(now), messenger: inboxName }
    return { taken, ending: leaving(until, now), messenger, leaves: true }
  })
}

// Other processes may have taken the same places in the same moment. Whoever has written down a message too many sees
// it after its own commit and gives the place back; a little later there is one, or the caps say no. So the caps hold
// between processes too.
async function giveBack({ db, rules, random }: Taking, going: readonly TakenMessage[], now: Date) {
  const back = tooMany(going, await count(db, going, now), rules)
  const ending = () => ({
    ...leaving(new Date(now.getTime() + giveWayMs * (1 + random())), now),
    sent_at: null,
  })
  if (back.length > 0)
    await saveDecisions(
      db,
      back.map(taken => ({ taken, ending: ending() })),
    )
  return back
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
