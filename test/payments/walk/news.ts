import type { Attempt } from '../../../src/core/payment/attempt.ts'
import type { Payment } from '../../../src/core/payment/payment.ts'
import { resendForMs } from '../../../src/core/payment/pollSchedule.ts'
import type { Model, News } from './model.ts'
import type { Message } from './wire.ts'

// What a reply is for the model. Of what was asked long ago it says how things stood then.
export function newsOf(
  table: Model,
  { total }: Payment,
  { attempt_id, created_at, sends, resent_at }: Attempt,
  { reply, asked, began }: Message & { kind: 'reply' },
  { now, absentForMs }: { now: Date; absentForMs: number },
): News {
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
