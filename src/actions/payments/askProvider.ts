import { isSameAccount, notSetUpWords } from '../../core/channel/accountIdentity.ts'
import type { Order } from '../../core/channel/order.ts'
import type { Heard } from '../../core/channel/reply.ts'
import { type Attempt, isUnresolved, orderKeyOf, requestEndsAt, sentAt } from '../../core/payment/attempt.ts'
import { type Change, event } from '../../core/payment/change.ts'
import { maySendAgain, sentAgain } from '../../core/payment/sendAgain.ts'
import { withoutTurns } from '../../core/text.ts'
import type { GuardedChannel } from '../../runtime/channels/guard.ts'
import { webhookIdOf } from '../../runtime/channels/webhookId.ts'
import { countOpenByIdentity } from '../../store/channels/businesses.ts'
import type { Db } from '../../store/db.ts'
import { lockAttempt, promptAttempt, saveSending } from '../../store/payments/attempts.ts'
import { addEvents } from '../../store/payments/events.ts'
import { findPayment, lockPayment, type OrderedPayment } from '../../store/payments/paymentLife.ts'
import type { PaymentDeps } from './deps.ts'
import { settle } from './settle.ts'

// Sends an attempt to its provider for the first time. It is stored already: whatever happens to us from here on,
// somebody will ask about it by the same reference.
export async function startAttempt(
  deps: PaymentDeps,
  payment: OrderedPayment,
  attempt: Attempt,
): Promise<Change> {
  const askedAt = deps.clock()
  const { line, reply } = await call(deps, payment, attempt, 'start')
  return settle(deps, attempt, reply, askedAt, line)
}

// Carries on what the customer typed at a step. That it was typed is stored already; what it was stands nowhere: when we
// die, whoever asks finds the step still open, and the customer types it again.
export async function submitStep(
  deps: PaymentDeps,
  attempt: Attempt,
  step: string,
  typed: Readonly<Record<string, string>>,
): Promise<Change> {
  const payment = await orderedPayment(deps, attempt)
  const line = deps.channels.findFor(attempt)
  const askedAt = deps.clock()
  const reply = line
    ? await line.submit(orderOf(deps, line, payment, attempt), step, typed)
    : await notSetUp(deps, attempt)
  return settle(deps, attempt, reply, askedAt, line)
}

async function orderedPayment({ db }: PaymentDeps, attempt: Attempt): Promise<OrderedPayment> {
  const payment = await findPayment(db, attempt)
  if (!payment) throw new Error('an attempt without its payment')
  return payment
}

// Asks the provider how an attempt stands, or to withdraw it, where the customer has given it up and the channel can ask
// for that: so whoever dies in between, the next who asks goes on with it. What for certain has not left us is sent now;
// what the provider has never heard of may be sent again, see core/payment/sendAgain.ts.
export async function askAttempt(
  deps: PaymentDeps,
  attempt: Attempt,
  known?: OrderedPayment, // by whoever has just read it
): Promise<Change> {
  const payment = known ?? (await orderedPayment(deps, attempt))
  const askedAt = deps.clock()
  const asked: Called =
    attempt.state === 'not_sent'
      ? { line: deps.channels.findFor(attempt), reply: { state: 'not_sent', words: '' } }
      : await call(deps, payment, attempt, questionOf(attempt))
  const isSendable = asked.reply.state === 'absent' || asked.reply.state === 'not_sent'
  const sending = isSendable ? await sendAgain(deps, payment, attempt) : undefined
  if (!sending) return settle(deps, attempt, asked.reply, askedAt, asked.line)
  const resentAt = deps.clock()
  const sent = await call(deps, payment, sending, 'start')
  return settle(deps, sending, sent.reply, resentAt, sent.line)
}

// The account is not open here: a node that has it asks.
export async function askElsewhere(deps: PaymentDeps, db: Db, attempt: Attempt) {
  await promptAttempt(db, attempt.merchant_id, attempt.attempt_id, deps.clock())
  deps.wake('pollers')
}

// What a person looks into was answered: there is nothing to withdraw.
const questionOf = (attempt: Attempt) =>
  attempt.gave_up_at && isUnresolved(attempt) && attempt.state !== 'disputed' ? 'giveUp' : 'check'

// Written down before it leaves, so that it is sent once, whoever dies and however many nodes think of it. Whoever cannot
// be sure to have written it, because a commit was lost, does not send. While nothing may leave for the account, that is
// not spent on it. Gives back the attempt as it is sent.
async function sendAgain(
  { db, channels, clock }: PaymentDeps,
  payment: OrderedPayment,
  asked: Attempt,
): Promise<Attempt | undefined> {
  const line = channels.findFor(asked)
  const now = clock()
  if (!line?.mayStart() || !maySendAgain(payment, asked, line.startIsIdempotent, now)) return undefined
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

type Called = { line: GuardedChannel | undefined; reply: Heard }

// The account must still be the one that the attempt was made for: the same mode, environment and business. An order is
// not sent to another one, so nobody was charged; a question is not asked there, so nothing is known.
async function call(
  deps: PaymentDeps,
  payment: OrderedPayment,
  attempt: Attempt,
  verb: 'start' | 'check' | 'giveUp',
): Promise<Called> {
  const line = deps.channels.findFor(attempt)
  if (!line) {
    const reply = await notSetUp(deps, attempt)
    return { line, reply: verb === 'start' ? { ...reply, state: 'not_sent' } : reply }
  }
  const ask = line[verb] ?? line.check
  return { line, reply: await ask(orderOf(deps, line, payment, attempt)) }
}

async function notSetUp({ db, channels }: PaymentDeps, attempt: Attempt) {
  const { channel } = attempt
  const opened = channels.opened().find(one => one.account === channel)
  const waiting = (await countOpenByIdentity(db)).filter(
    one => one.channel === channel && !(opened && isSameAccount(one, opened)),
  )
  const attempts = waiting.reduce((sum, one) => sum + one.attempts, 0)
  return { state: 'not_set_up' as const, words: notSetUpWords(attempt, opened, attempts) }
}

// `back` tells that the customer comes from there and has done something.
function returnUrl({ tx_token }: { tx_token: string }, { given }: Attempt, baseUrl: string): string {
  return `${baseUrl}/checkout/${tx_token}?back=1${given.lang ? `&lang=${given.lang}` : ''}`
}

const endsAt = (line: GuardedChannel, attempt: Attempt) =>
  requestEndsAt(attempt, line.terms(attempt.payment_method).livesForMs ?? 0)

const orderOf = (
  deps: PaymentDeps,
  line: GuardedChannel,
  payment: OrderedPayment,
  attempt: Attempt,
): Order => ({
  attempt_id: attempt.attempt_id,
  key: orderKeyOf(attempt),
  number: attempt.number,
  started_at: attempt.created_at,
  sent_at: sentAt(attempt),
  ends_at: endsAt(line, attempt),
  is_first_sending: attempt.resent_at === null, // those before it, if any, never left
  provider_code: attempt.provider_code,
  check_reversals: attempt.check_reversals,
  tx_reference: payment.tx_reference,
  invoice_id: payment.invoice_id,
  payment_method: attempt.payment_method,
  amount: payment.total,
  currency: payment.currency,
  given: attempt.given,
  merchant_id: payment.merchant_id,
  merchant_name: withoutTurns(payment.merchant_name), // a phone shows them beside the amount
  description: payment.description && withoutTurns(payment.description),
  email: payment.email ?? attempt.given.email ?? null,
  name: payment.name ?? attempt.given.name ?? null,
  phone: payment.number ?? attempt.instrument,
  provider_ref: attempt.provider_ref,
  redirect_url: attempt.redirect_url,
  callback_url: `${deps.baseUrl()}/callbacks/${attempt.attempt_id}`,
  webhook_url: `${deps.baseUrl()}/callbacks/account/${webhookIdOf(attempt.channel)}`,
  return_url: returnUrl(payment, attempt, deps.baseUrl()),
  lang: attempt.lang ?? undefined,
})
