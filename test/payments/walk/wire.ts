import { type Attempt, resendForMs } from '../../../src/core/payment/attempt.ts'
import type { MoneyBack } from '../../../src/core/payment/change.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import type { Reply } from '../../../src/core/provider/reply.ts'
import { minutes } from '../../support/payments/rows.ts'
import type { Model, Report } from './model.ts'

// A process of a node, from its start to its end. Replies that it waits for are lost with it.
export type Process = { isDead: boolean }

// A request to a provider, or its reply.
export type Trip = {
  id: string
  asked: Attempt // as it was when the request was sent
  at: number // a counter of all actions
  from: Process
  sent: number // ms
  began: number // ms, when the request of a reply was sent
}

// Messages in transit. A message that is removed and not delivered was lost.
export type Message =
  | ({ kind: 'order' | 'question' } & Trip)
  | ({ kind: 'typed'; code: string } & Trip)
  | ({ kind: 'reply'; reply: Reply; isQuestion: boolean } & Trip)
  | { kind: 'callback'; id: string }
  | { kind: 'refund_webhook'; id: string } // about a refund or a dispute

// How a message is delivered, and how the provider reacts.
export type Luck = {
  hidden: number // share of the time during which the provider may deny the order
  isClear: boolean
  isUnknown: boolean
  asks: boolean // for a code
  leaves: boolean // whether a resent order is sent
}
export const goodLuck: Luck = { hidden: 0, isClear: true, isUnknown: false, asks: true, leaves: true }

// What happens to an outgoing request. `refused`: the connection is refused, and the node notices it.
export type Leaving = 'leaves' | 'refused' | 'dies'

const wireLifeMs = minutes(10) // messages older than this are lost

export const isLost = (message: Message, now: number, orderLifeMs: number): boolean => {
  if (message.kind === 'callback' || message.kind === 'refund_webhook') return false
  if (message.kind === 'reply' && message.from.isDead) return true
  return now - message.sent > (message.kind === 'reply' ? wireLifeMs : orderLifeMs)
}

// Translates a reply into a report for the model. A reply to an old request describes the state at that time.
export function reportOf(
  table: Model,
  { total }: Payment,
  { attempt_id, created_at, sends, resent_at }: Attempt,
  { reply, asked, began }: Message & { kind: 'reply' },
  { now, absentForMs, stored }: { now: Date; absentForMs: number; stored: MoneyBack },
): Report {
  const reversed = reply.state === 'paid' ? reversedBy(reply, stored) : 0n
  if (reply.state === 'paid' && reversed > 0n)
    return reversed >= (reply.amount === 'not_said' ? total : reply.amount) ? 'undone' : 'other_amount'
  if (reply.state === 'paid')
    return reply.amount === total || reply.amount === 'not_said' ? 'yes' : 'other_amount'
  if (reply.state === 'failed') return 'no'
  if (reply.state === 'absent') {
    const isLong = began - created_at.getTime() >= absentForMs + (sends > 1 ? resendForMs : 0)
    return isLong ? 'never_there' : 'unclear'
  }
  if (reply.state === 'not_sent') {
    const isSo = !resent_at && sends === asked.sends
    const wantsIt = !table.cancelRequested && !table.tries.get(attempt_id)?.gaveUp
    const isOver =
      now.getTime() - created_at.getTime() >= resendForMs || !wantsIt || table.status !== 'awaiting_payment'
    return isSo && isOver ? 'never_there' : 'unclear'
  }
  if (reply.state === 'pending') return reply.step ? 'asks' : 'pending'
  if (reply.state === 'unknown' && reply.acknowledged) return 'taken'
  return 'unclear'
}

// The sum of all refunds and lost disputes that the provider or the database lists, each once.
function reversedBy({ reversals = [], disputes = [] }: Reply & { state: 'paid' }, stored: MoneyBack): bigint {
  const amounts = new Map<string, bigint>()
  for (const { reversal_id, amount } of stored.reversals) amounts.set(`refund ${reversal_id}`, amount)
  for (const { dispute_id, state, amount } of stored.disputes)
    if (state === 'lost') amounts.set(`dispute ${dispute_id}`, amount)
  for (const { id, amount } of reversals) amounts.set(`refund ${id}`, amount)
  for (const { id, state, amount } of disputes) if (state === 'lost') amounts.set(`dispute ${id}`, amount)
  return [...amounts.values()].reduce((sum, amount) => sum + amount, 0n)
}
