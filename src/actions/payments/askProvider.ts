import type { Heard, Order } from '../../core/channel/channel.ts'
import type { Attempt } from '../../core/payment/attempt.ts'
import { type Change, event } from '../../core/payment/change.ts'
import { maySendAgain, sentAgain } from '../../core/payment/sendAgain.ts'
import { lockAttempt, saveSending } from '../../store/payments/attempts.ts'
import { addEvents } from '../../store/payments/events.ts'
import { findPayment, lockPayment, type PaymentWithMerchant } from '../../store/payments/paymentLife.ts'
import type { PaymentDeps } from './deps.ts'
import { settle } from './settle.ts'

// What it takes to ask a provider and to keep what it says.
// Sends an attempt to its provider for the first time. It is stored already: whatever happens to us from here on,
// somebody will ask about it by the same reference.
export async function startAttempt(
  deps: PaymentDeps,
  payment: PaymentWithMerchant,
  attempt: Attempt,
): Promise<Change> {
  const reply = await call(deps, payment, attempt, 'start')
  return settle(deps, attempt, reply)
}

// Asks the provider how an attempt stands. What for certain has not left us is sent now; what the provider has never
// heard of may be sent again, see core/payment/sendAgain.ts.
export async function askAttempt(deps: PaymentDeps, attempt: Attempt): Promise<Change> {
  const payment = await findPayment(deps.db, attempt)
  if (!payment) throw new Error('an attempt without its payment')
  const reply = attempt.state === 'not_sent' ? unsent : await call(deps, payment, attempt, 'check')
  const isSendable = reply.state === 'absent' || reply.state === 'not_sent'
  const sending = isSendable ? await sendAgain(deps, payment, attempt) : undefined
  if (!sending) return settle(deps, attempt, reply)
  return settle(deps, sending, await call(deps, payment, sending, 'start'))
}

const unsent: Heard = { state: 'not_sent', words: '' }

// Written down before it leaves, so that it is sent once, whoever dies and however many nodes think of it. Whoever cannot
// be sure to have written it, because a commit was lost, does not send. Gives back the attempt as it is sent.
async function sendAgain(
  { db, channels, clock }: PaymentDeps,
  payment: PaymentWithMerchant,
  asked: Attempt,
): Promise<Attempt | undefined> {
  const line = channels.find(asked.channel)
  const now = clock()
  if (!line || !maySendAgain(payment, asked, line.startIsIdempotent, now)) return undefined
  return db.transaction(async tx => {
    const held = await lockPayment(tx, asked)
    const attempt = await lockAttempt(tx, asked.merchant_id, asked.attempt_id)
    if (!held || !attempt || attempt.sends !== asked.sends) return undefined
    if (!maySendAgain(held, attempt, line.startIsIdempotent, now)) return undefined
    const sending = sentAgain(attempt, now)
    await saveSending(tx, sending)
    if (sending.resent_at && !attempt.resent_at) await addEvents(tx, attempt, [resent(sending, now)])
    return { ...sending, asks: asked.asks, next_ask_at: asked.next_ask_at }
  })
}

const resent = (attempt: Attempt, now: Date) =>
  event(
    'attempt_resent',
    'clock',
    attempt,
    'The provider had not heard of it: sent again under the same reference.',
    now,
  )

async function call(
  deps: PaymentDeps,
  payment: PaymentWithMerchant,
  attempt: Attempt,
  verb: 'start' | 'check',
): Promise<Heard> {
  const channel = deps.channels.find(attempt.channel)
  const words = `The channel ${attempt.channel} is not set up.`
  if (!channel) return { state: verb === 'start' ? 'not_sent' : 'unknown', words }
  return channel[verb](orderOf(payment, attempt, deps.baseUrl()))
}

// `back` tells that the customer comes from there and has done something.
function returnUrl({ tx_token }: { tx_token: string }, { given }: Attempt, baseUrl: string): string {
  return `${baseUrl}/checkout/${tx_token}?back=1${given.lang ? `&lang=${given.lang}` : ''}`
}

const orderOf = (payment: PaymentWithMerchant, attempt: Attempt, baseUrl: string): Order => ({
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
  lang: attempt.lang ?? undefined,
})
