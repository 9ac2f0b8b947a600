import type { Attempt } from '../core/attempt.ts'
import type { Change } from '../core/change.ts'
import type { Heard } from '../core/channel.ts'
import { hear } from '../core/hear.ts'
import { Unavailable } from '../core/refusal.ts'
import { lockAttempt } from '../store/attempts.ts'
import { lockPayment } from '../store/paymentLife.ts'
import type { Asking } from './ask.ts'
import { callPerson } from './callPerson.ts'
import { saveChange } from './save.ts'

// A channel replied to our question. Safe to call twice with the same news.
export async function settle(
  asking: Asking,
  asked: Attempt, // as it was when we asked
  reply: Heard,
): Promise<Change> {
  const now = asking.clock()
  const change = await save(asking, asked, reply, now).catch(async (error: unknown) => {
    if (!(error instanceof Unavailable)) await callPerson(asking, asked, reply, error, now)
    throw error
  })
  asking.watch(change)
  return change
}

function save({ db }: Asking, asked: Attempt, reply: Heard, now: Date) {
  const { merchant_id, tx_reference, attempt_id } = asked
  return db.share('settle').transaction(async (tx): Promise<Change> => {
    const payment = await lockPayment(tx, { merchant_id, tx_reference })
    const attempt = await lockAttempt(tx, merchant_id, attempt_id)
    if (!payment || !attempt) throw new Error('an attempt without its payment')
    const decided = hear(payment, attempt, reply, now)
    // Somebody knocked, or asked after us: their time stands, because this answer may be older than their question.
    const isOurs =
      attempt.asks === asked.asks && attempt.next_ask_at?.getTime() === asked.next_ask_at?.getTime()
    if (!isOurs && decided.attempt.state !== 'paid') decided.attempt.next_ask_at = attempt.next_ask_at
    return { ...decided, tasks: await saveChange(tx, payment, decided) }
  })
}
