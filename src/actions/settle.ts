import type { Attempt } from '../core/attempt.ts'
import type { Reply } from '../core/channel.ts'
import { hear } from '../core/hear.ts'
import type { LivingPayment } from '../core/payment.ts'
import { findAttempt } from '../store/attempts.ts'
import type { Db } from '../store/db.ts'
import { lockPayment } from '../store/paymentLife.ts'
import { saveChange } from './save.ts'

export type Settled = { payment: LivingPayment; attempt: Attempt }

// A channel replied to our question. Safe to call twice with the same news.
export function settle(db: Db, { merchant_id, tx_reference, attempt_id }: Attempt, reply: Reply, now: Date) {
  return db.transaction(async (tx): Promise<Settled> => {
    const payment = await lockPayment(tx, { merchant_id, tx_reference })
    const attempt = await findAttempt(tx, merchant_id, attempt_id)
    if (!payment || !attempt) throw new Error('an attempt without its payment')
    const change = hear(payment, attempt, reply, now)
    await saveChange(tx, payment, change)
    return change
  })
}
