import type { Heard } from '../../core/channel/channel.ts'
import { Unavailable } from '../../core/interface/refusal.ts'
import { applyReply, doubt, withTheirTime } from '../../core/payment/applyReply.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import type { Change } from '../../core/payment/change.ts'
import type { Tx } from '../../store/db.ts'
import { lockAttempt } from '../../store/payments/attempts.ts'
import { holdReference, nameOfAttempt } from '../../store/payments/paidReferences.ts'
import { lockPayment, type PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import { callPerson } from './callPerson.ts'
import type { PaymentDeps } from './deps.ts'
import { saveChange } from './saveChange.ts'

// A channel replied to our question. Safe to call twice with the same news.
export async function settle(
  deps: PaymentDeps,
  asked: Attempt, // as it was when we asked
  reply: Heard,
): Promise<Change> {
  const now = deps.clock()
  const change = await save(deps, asked, reply, now).catch(async (error: unknown) => {
    if (!(error instanceof Unavailable)) await callPerson(deps, asked, reply, error, now)
    throw error
  })
  deps.watch(change)
  if (change.events.some(({ kind }) => kind === 'status_changed')) deps.wake('senders')
  return change
}

function save({ db, channels }: PaymentDeps, asked: Attempt, reply: Heard, now: Date) {
  const channel = channels.find(asked.channel)
  const worth = {
    absentForMs: channel?.absentForMs(asked.payment_method) ?? Infinity,
    livesForMs: channel?.livesForMs(asked.payment_method),
    sends: asked.sends,
  }
  const { merchant_id, tx_reference, attempt_id } = asked
  return db.share('settle').transaction(async (tx): Promise<Change> => {
    const payment = await lockPayment(tx, { merchant_id, tx_reference })
    const attempt = await lockAttempt(tx, merchant_id, attempt_id)
    if (!payment || !attempt) throw new Error('an attempt without its payment')
    const wished = applyReply(payment, attempt, reply, now, worth)
    const account = channel?.account ?? attempt.channel
    const decided = (await doubted(tx, payment, attempt, wished, account, now)) ?? wished
    const change = { ...decided, attempt: withTheirTime(decided.attempt, attempt, asked) }
    return { ...change, tasks: await saveChange(tx, payment, change) }
  })
}

// Whatever becomes paid holds the provider's reference; where another attempt holds it already, it does not become paid.
// A yes without one goes by the order's own name.
async function doubted(
  tx: Tx,
  payment: PaymentWithMerchant,
  before: Attempt,
  { attempt }: Change,
  account: string,
  now: Date,
): Promise<Change | undefined> {
  if (attempt.state !== 'paid' || before.state === 'paid') return undefined
  const reference = attempt.provider_ref ?? attempt.attempt_id
  const holder = await holdReference(tx, account, reference, attempt)
  if (holder.attempt_id === attempt.attempt_id) return undefined
  return doubt(payment, before, { reference, holder: await nameOfAttempt(tx, holder) }, now)
}
