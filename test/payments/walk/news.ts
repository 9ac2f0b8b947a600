import { type Attempt, resendForMs } from '../../../src/core/payment/attempt.ts'
import type { MoneyBack } from '../../../src/core/payment/change.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import type { Reply } from '../../../src/core/provider/reply.ts'
import type { Model, News } from './model.ts'
import type { Message } from './wire.ts'

// What a reply is for the model. Of what was asked long ago it says how things stood then.
export function newsOf(
  table: Model,
  { total }: Payment,
  { attempt_id, created_at, sends, resent_at }: Attempt,
  { reply, asked, began }: Message & { kind: 'reply' },
  { now, absentForMs, stored }: { now: Date; absentForMs: number; stored: MoneyBack },
): News {
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
    const wantsIt = !table.wished && !table.tries.get(attempt_id)?.gaveUp
    const isOver =
      now.getTime() - created_at.getTime() >= resendForMs || !wantsIt || table.status !== 'awaiting_payment'
    return isSo && isOver ? 'never_there' : 'unclear'
  }
  if (reply.state === 'pending') return reply.step ? 'asks' : 'pending'
  if (reply.state === 'unknown' && reply.acknowledged) return 'taken'
  return 'unclear'
}

// All refunds and lost disputes that the provider or our records name, each once.
function reversedBy({ reversals = [], disputes = [] }: Reply & { state: 'paid' }, stored: MoneyBack): bigint {
  const amounts = new Map<string, bigint>()
  for (const { reversal_id, amount } of stored.reversals) amounts.set(`refund ${reversal_id}`, amount)
  for (const { dispute_id, state, amount } of stored.disputes)
    if (state === 'lost') amounts.set(`dispute ${dispute_id}`, amount)
  for (const { id, amount } of reversals) amounts.set(`refund ${id}`, amount)
  for (const { id, state, amount } of disputes) if (state === 'lost') amounts.set(`dispute ${id}`, amount)
  return [...amounts.values()].reduce((sum, amount) => sum + amount, 0n)
}
