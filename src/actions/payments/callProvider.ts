import {
  type Attempt,
  idempotencyKeyOf,
  isUnresolved,
  requestEndsAt,
  sentAt,
} from '../../core/payment/attempt.ts'
import { type Change, event } from '../../core/payment/change.ts'
import { maySendAgain, sentAgain } from '../../core/payment/sendAgain.ts'
import { isSameAccount, notSetUpWords } from '../../core/provider/accountIdentity.ts'
import type { Order } from '../../core/provider/order.ts'
import type { SanitizedReply } from '../../core/provider/reply.ts'
import { stripBidiControls } from '../../core/text.ts'
import { webhookIdOf } from '../../runtime/providers/accounts.ts'
import type { GuardedAccount } from '../../runtime/providers/guard.ts'
import type { Db } from '../../store/db.ts'
import { lockAttempt, promptAttempt, saveSending } from '../../store/payments/attempts.ts'
import { addEvents } from '../../store/payments/events.ts'
import { findPayment, lockPayment, type OrderedPayment } from '../../store/payments/paymentLife.ts'
import { countOpenByIdentity } from '../../store/providers/businesses.ts'
import type { PaymentDeps } from './deps.ts'
import { resolveAttempt } from './resolveAttempt.ts'

// Sends an attempt to its provider for the first time. It is stored already: whatever happens to us from here on,
// somebody will ask about it by the same reference.
export async function startAttempt(
  deps: PaymentDeps,
  payment: OrderedPayment,
  attempt: Attempt,
): Promise<Change> {
  const askedAt = deps.clock()
  const { line, reply } = await call(deps, payment, attempt, 'start')
  return resolveAttempt(deps, attempt, reply, askedAt, line)
}

// Carries on what the customer typed at a step. That it was typed is stored already; what it was stands nowhere: when we
// die, whoever asks finds the step still open, and the customer types it again.
export async function submitStep(
  deps: PaymentDeps,
  attempt: Attempt,
  step: string,
  input: Readonly<Record<string, string>>,
): Promise<Change> {
  const payment = await orderedPayment(deps, attempt)
  const account = deps.providerAccounts.findFor(attempt)
  const askedAt = deps.clock()
  const reply = account
    ? await account.submit(orderOf(deps, account, payment, attempt), step, input)
    : await notSetUp(deps, attempt)
  return resolveAttempt(deps, attempt, reply, askedAt, account)
}

async function orderedPayment({ db }: PaymentDeps, attempt: Attempt): Promise<OrderedPayment> {
  const payment = await findPayment(db, attempt)
  if (!payment) throw new Error('an attempt without its payment')
  return payment
}

// Asks the provider how an attempt stands, or to withdraw it, where the customer has given it up and the provider can ask
// for that: so whoever dies in between, the next who asks goes on with it. What for certain has not left us is sent now;
// what the provider has never heard of may be sent again, see core/payment/sendAgain.ts.
export async function pollAttempt(
  deps: PaymentDeps,
  attempt: Attempt,
  known?: OrderedPayment, // by whoever has just read it
): Promise<Change> {
  const payment = known ?? (await orderedPayment(deps, attempt))
  const askedAt = deps.clock()
  const asked: Called =
    attempt.state === 'not_sent'
      ? { line: deps.providerAccounts.findFor(attempt), reply: { state: 'not_sent', words: '' } }
      : await call(deps, payment, attempt, questionOf(attempt))
  const isSendable = asked.reply.state === 'absent' || asked.reply.state === 'not_sent'
  const sending = isSendable ? await sendAgain(deps, payment, attempt) : undefined
  if (!sending) return resolveAttempt(deps, attempt, asked.reply, askedAt, asked.line)
  const resentAt = deps.clock()
  const sent = await call(deps, payment, sending, 'start')
  return resolveAttempt(deps, sending, sent.reply, resentAt, sent.line)
}

// The account is not open here: a node that has it asks.
export async function pollElsewhere(deps: PaymentDeps, db: Db, attempt: Attempt) {
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
  { db, providerAccounts, clock }: PaymentDeps,
  payment: OrderedPayment,
  asked: Attempt,
): Promise<Attempt | undefined> {
  const account = providerAccounts.findFor(asked)
  const now = clock()
  if (!account?.mayStart() || !maySendAgain(payment, asked, account.startIsIdempotent, now)) return undefined
  return db.transaction(async tx => {
    const held = await lockPayment(tx, asked)
    const attempt = await lockAttempt(tx, asked.merchant_id, asked.attempt_id)
    if (!held || !attempt || attempt.sends !== asked.sends) return undefined
    if (!maySendAgain(held, attempt, account.startIsIdempotent, now)) return undefined
    const sending = sentAgain(attempt, now)
    await saveSending(tx, sending)
    if (sending.resent_at && !attempt.resent_at) await addEvents(tx, attempt, [resent(sending, now)])
    return { ...sending, polls: asked.polls, next_poll_at: asked.next_poll_at }
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

type Called = { line: GuardedAccount | undefined; reply: SanitizedReply }

// The account must still be the one that the attempt was made for: the same mode, environment and business. An order is
// not sent to another one, so nobody was charged; a question is not asked there, so nothing is known.
async function call(
  deps: PaymentDeps,
  payment: OrderedPayment,
  attempt: Attempt,
  verb: 'start' | 'check' | 'giveUp',
): Promise<Called> {
  const account = deps.providerAccounts.findFor(attempt)
  if (!account) {
    const reply = await notSetUp(deps, attempt)
    return { line: account, reply: verb === 'start' ? { ...reply, state: 'not_sent' } : reply }
  }
  const ask = account[verb] ?? account.check
  return { line: account, reply: await ask(orderOf(deps, account, payment, attempt)) }
}

async function notSetUp({ db, providerAccounts }: PaymentDeps, attempt: Attempt) {
  const { provider_account } = attempt
  const opened = providerAccounts.opened().find(one => one.account === provider_account)
  const waiting = (await countOpenByIdentity(db)).filter(
    one => one.provider_account === provider_account && !(opened && isSameAccount(one, opened)),
  )
  const attempts = waiting.reduce((sum, one) => sum + one.attempts, 0)
  return { state: 'not_set_up' as const, words: notSetUpWords(attempt, opened, attempts) }
}

// `back` tells that the customer comes from there and has done something.
function returnUrl({ tx_token }: { tx_token: string }, { given }: Attempt, baseUrl: string): string {
  return `${baseUrl}/checkout/${tx_token}?back=1${given.lang ? `&lang=${given.lang}` : ''}`
}

const endsAt = (account: GuardedAccount, attempt: Attempt) =>
  requestEndsAt(attempt, account.terms(attempt.payment_method).lifetimeMs ?? 0)

const orderOf = (
  deps: PaymentDeps,
  account: GuardedAccount,
  payment: OrderedPayment,
  attempt: Attempt,
): Order => ({
  attempt_id: attempt.attempt_id,
  idempotency_key: idempotencyKeyOf(attempt),
  number: attempt.number,
  started_at: attempt.created_at,
  sent_at: sentAt(attempt),
  ends_at: endsAt(account, attempt),
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
  merchant_name: stripBidiControls(payment.merchant_name), // a phone shows them beside the amount
  description: payment.description && stripBidiControls(payment.description),
  email: payment.email ?? attempt.given.email ?? null,
  name: payment.name ?? attempt.given.name ?? null,
  phone: payment.number ?? attempt.instrument,
  provider_ref: attempt.provider_ref,
  redirect_url: attempt.redirect_url,
  callback_url: `${deps.baseUrl()}/callbacks/${attempt.attempt_id}`,
  webhook_url: `${deps.baseUrl()}/callbacks/account/${webhookIdOf(attempt.provider_account)}`,
  return_url: returnUrl(payment, attempt, deps.baseUrl()),
  lang: attempt.lang ?? undefined,
})
