import type { Attempt } from '../core/attempt.ts'
import type { Change } from '../core/change.ts'
import type { Reply } from '../core/channel.ts'
import { hear } from '../core/hear.ts'
import { findAttempt } from '../store/attempts.ts'
import { lockPayment } from '../store/paymentLife.ts'
import type { Asking } from './ask.ts'
import { saveChange } from './save.ts'

// A channel replied to our question. Safe to call twice with the same news.
export async function settle(
  { db, clock, watch }: Asking,
  { merchant_id, tx_reference, attempt_id }: Attempt,
  reply: Reply,
) {
  const now = clock()
  const change = await db.transaction(async (tx): Promise<Change> => {
    const payment = await lockPayment(tx, { merchant_id, tx_reference })
    const attempt = await findAttempt(tx, merchant_id, attempt_id)
    if (!payment || !attempt) throw new Error('an attempt without its payment')
    const decided = hear(payment, attempt, reply, now)
    await saveChange(tx, payment, decided)
    return decided
  })
  watch(change)
  return change
}
