import { resendForMs } from '../core/asking.ts'
import { type Attempt, isUnresolved } from '../core/attempt.ts'
import { type Change, event } from '../core/change.ts'
import type { Heard, Order } from '../core/channel.ts'
import type { Db } from '../store/db.ts'
import { addEvents, eventsOf } from '../store/events.ts'
import { findPayment, lockPayment, type PaymentOfMerchant } from '../store/paymentLife.ts'
import type { Gate } from './gate.ts'
import { settle } from './settle.ts'

// What it takes to ask a provider and to keep what it says.
export type Asking = Pick<Gate, 'db' | 'channels' | 'baseUrl' | 'clock' | 'watch'>

// Sends an attempt to its provider for the first time. It is stored already: whatever happens to us from here on,
// somebody will ask about it by the same reference.
export async function startAttempt(
  asking: Asking,
  payment: PaymentOfMerchant,
  attempt: Attempt,
): Promise<Change> {
  const reply = await call(asking, payment, attempt, 'start')
  return settle(asking, attempt, reply)
}

// Asks the provider how an attempt stands. One that it has never heard of is sent again, under the same reference:
// we may have died before it left. Only while the customer may still be there.
export async function askAttempt(asking: Asking, attempt: Attempt): Promise<Change> {
  const payment = await findPayment(asking.db, attempt)
  if (!payment) throw new Error('an attempt without its payment')
  let reply = await call(asking, payment, attempt, 'check')
  if (reply.state === 'absent' && mayResend(payment, attempt, asking.clock())) {
    await noteResent(asking.db, attempt, asking.clock())
    reply = await call(asking, payment, attempt, 'start')
  }
  return settle(asking, attempt, reply)
}

const mayResend = (payment: PaymentOfMerchant, attempt: Attempt, now: Date) =>
  isUnresolved(attempt) &&
  payment.status === 'awaiting_payment' &&
  payment.cancel_wished_at === null &&
  now.getTime() - attempt.created_at.getTime() < resendForMs

const noteResent = (db: Db, attempt: Attempt, now: Date) =>
  db.transaction(async tx => {
    await lockPayment(tx, attempt)
    const known = await eventsOf(tx, attempt.merchant_id, attempt.tx_reference)
    if (known.some(({ kind, at }) => kind === 'attempt_resent' && at.getTime() === now.getTime())) return
    const words = 'The provider had not heard of it: sent again under the same reference.'
    await addEvents(tx, attempt, [event('attempt_resent', 'clock', attempt, words, now)])
  })

async function call(
  asking: Asking,
  payment: PaymentOfMerchant,
  attempt: Attempt,
  verb: 'start' | 'check',
): Promise<Heard> {
  const channel = asking.channels.find(attempt.channel)
  if (!channel) return { state: 'unknown', words: `The channel ${attempt.channel} is not set up.` }
  return channel[verb](orderOf(payment, attempt, asking.baseUrl()))
}

// `back` tells that the customer comes from there and has done something.
function returnUrl({ tx_token }: { tx_token: string }, { given }: Attempt, baseUrl: string): string {
  return `${baseUrl}/checkout/${tx_token}?back=1${given.lang ? `&lang=${given.lang}` : ''}`
}

const orderOf = (payment: PaymentOfMerchant, attempt: Attempt, baseUrl: string): Order => ({
  attempt_id: attempt.attempt_id,
  tx_reference: payment.tx_reference,
  invoice_id: payment.invoice_id,
  payment_method: attempt.payment_method,
  amount: payment.total,
  currency: payment.currency,
  given: attempt.given,
  merchant_name: payment.merchant_name,
  description: payment.description,
  provider_ref: attempt.provider_ref,
  callback_url: `${baseUrl}/callbacks/${attempt.attempt_id}`,
  return_url: returnUrl(payment, attempt, baseUrl),
})
