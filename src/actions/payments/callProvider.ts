import {
  type Attempt,
  idempotencyKeyOf,
  isUnresolved,
  maySendAgain,
  requestEndsAt,
  sentAgain,
  sentAt,
} from '../../core/payment/attempt.ts'
import { type Change, event } from '../../core/payment/change.ts'
import { isSameAccount, notSetUpWords } from '../../core/provider/accountIdentity.ts'
import type { Order } from '../../core/provider/order.ts'
import type { SanitizedReply } from '../../core/provider/reply.ts'
import { stripBidiControls } from '../../core/text.ts'
import { webhookIdOf } from '../../runtime/providers/accounts.ts'
import type { GuardedAccount } from '../../runtime/providers/guard.ts'
import type { PaymentDeps } from '../../runtime/runtime.ts'
import type { Db } from '../../store/db.ts'
import { lockAttempt } from '../../store/payments/attempts.ts'
import { promptAttempt } from '../../store/payments/callbacks.ts'
import { findPayment, type OrderedPayment } from '../../store/payments/paymentLife.ts'
import { countOpenByIdentity } from '../../store/providers/businesses.ts'
import { resolveAttempt } from './resolveAttempt.ts'
import { changeOf, changeOne } from './writeChanges.ts'

// Sends the order of an attempt to its provider and stores the reply. The attempt is stored already: if this process dies, a
// worker polls it by the same id.
export const startAttempt = (deps: PaymentDeps, payment: OrderedPayment, attempt: Attempt): Promise<Change> =>
  inTrace(deps, attempt, 'attempt start', async () => {
    const askedAt = deps.clock()
    const { account, reply } = await call(deps, payment, attempt, 'start')
    return resolveAttempt(deps, attempt, reply, askedAt, account)
  })

const inTrace = ({ traces }: PaymentDeps, attempt: Attempt, name: string, work: () => Promise<Change>) =>
  traces.inPayment(attempt, name, {}, async span => {
    const change = await work()
    span.setAttribute('tollgate.attempt_state', change.attempt.state)
    if (change.payment) span.setAttribute('tollgate.payment_status', change.payment.status)
    return change
  })

// Sends the customer's input at a step. The submission is stored already, the input is not: if this process dies, the next
// poll finds the step still open, and the customer types it again.
export const submitStep = (
  deps: PaymentDeps,
  attempt: Attempt,
  step: string,
  input: Readonly<Record<string, string>>,
): Promise<Change> =>
  inTrace(deps, attempt, 'attempt step', async () => {
    const payment = await orderedPayment(deps, attempt)
    const account = deps.providerAccounts.findFor(attempt)
    const askedAt = deps.clock()
    const reply = account
      ? await account.submit(orderOf(deps, account, payment, attempt), step, input)
      : await notSetUp(deps, attempt)
    return resolveAttempt(deps, attempt, reply, askedAt, account)
  })

async function orderedPayment({ db }: PaymentDeps, attempt: Attempt): Promise<OrderedPayment> {
  const payment = await findPayment(db, attempt)
  if (!payment) throw new Error('the payment of an attempt is missing')
  return payment
}

// Polls the provider for the outcome of an attempt. If the customer has given the attempt up, it asks the provider to
// withdraw the order instead, so that a poll continues what a process that died has begun. An order that was never sent is
// sent now. An order that the provider does not have may be sent again, see `maySendAgain`.
export const pollAttempt = (
  deps: PaymentDeps,
  attempt: Attempt,
  ordered?: OrderedPayment, // if the caller has just read it
): Promise<Change> =>
  inTrace(deps, attempt, 'attempt poll', async () => {
    const payment = ordered ?? (await orderedPayment(deps, attempt))
    const askedAt = deps.clock()
    const polled: CallResult =
      attempt.state === 'not_sent'
        ? { account: deps.providerAccounts.findFor(attempt), reply: { state: 'not_sent', words: '' } }
        : await call(deps, payment, attempt, pollVerbOf(attempt))
    const isSendable = polled.reply.state === 'absent' || polled.reply.state === 'not_sent'
    const sending = isSendable ? await storeSending(deps, payment, attempt) : undefined
    return sending
      ? startAttempt(deps, payment, sending)
      : resolveAttempt(deps, attempt, polled.reply, askedAt, polled.account)
  })

// The account is not open on this node, so the attempt is marked as due for the nodes that have it.
export async function pollElsewhere(deps: PaymentDeps, db: Db, attempt: Attempt) {
  await promptAttempt(db, attempt, deps.clock())
  deps.wake('pollers')
}

// A disputed attempt is paid at the provider: there is nothing to withdraw.
const pollVerbOf = (attempt: Attempt) =>
  attempt.gave_up_at && isUnresolved(attempt) && attempt.state !== 'disputed' ? 'giveUp' : 'check'

// Stores that the order is sent again. This is stored before it is sent, so that it is sent once, even if processes die or
// several nodes decide it at the same time. If the commit was lost, this process does not send. Nothing is stored while the
// account may not be called. Returns the attempt to send, or undefined if it is not sent again.
async function storeSending(
  { db, localWorkers, providerAccounts, clock }: PaymentDeps,
  ordered: OrderedPayment,
  polled: Attempt,
): Promise<Attempt | undefined> {
  const account = providerAccounts.findFor(polled)
  const now = clock()
  if (!account?.mayStart() || !maySendAgain(ordered, polled, account.startIsIdempotent, now)) return undefined
  return changeOne(db, localWorkers, polled, async (tx, payment) => {
    const attempt = await lockAttempt(tx, polled.merchant_id, polled.attempt_id)
    if (!attempt || attempt.sends !== polled.sends) return { answer: undefined }
    if (!maySendAgain(payment, attempt, account.startIsIdempotent, now)) return { answer: undefined }
    const sending = sentAgain(attempt, now)
    const events =
      sending.resent_at && !attempt.resent_at
        ? [event('attempt_resent', 'clock', sending, resentReason, now)]
        : []
    return {
      answer: { ...sending, polls: polled.polls, next_poll_at: polled.next_poll_at },
      change: { ...changeOf(payment, payment, events), resentAttempt: sending },
    }
  })
}

const resentReason = 'The provider did not have the order: sent again under the same reference.'

type CallResult = { account: GuardedAccount | undefined; reply: SanitizedReply }

// The account must be the one that the attempt was made for: the same mode, environment and business. Otherwise the provider
// is not called. An order is then certainly not sent; the outcome of a poll is unknown.
async function call(
  deps: PaymentDeps,
  payment: OrderedPayment,
  attempt: Attempt,
  verb: 'start' | 'check' | 'giveUp',
): Promise<CallResult> {
  const account = deps.providerAccounts.findFor(attempt)
  if (!account) {
    const reply = await notSetUp(deps, attempt)
    return { account, reply: verb === 'start' ? { ...reply, state: 'not_sent' } : reply }
  }
  const send = account[verb] ?? account.check
  return { account, reply: await send(orderOf(deps, account, payment, attempt)) }
}

async function notSetUp({ db, providerAccounts }: PaymentDeps, attempt: Attempt) {
  const { provider_account } = attempt
  const opened = providerAccounts.opened().find(one => one.account === provider_account)
  const unresolved = (await countOpenByIdentity(db)).filter(
    one => one.provider_account === provider_account && !(opened && isSameAccount(one, opened)),
  )
  const attempts = unresolved.reduce((sum, one) => sum + one.attempts, 0)
  return { state: 'not_set_up' as const, words: notSetUpWords(attempt, opened, attempts) }
}

// `back` means that the customer returns from the provider's page.
const returnUrl = ({ tx_token }: OrderedPayment, { given }: Attempt, baseUrl: string) =>
  `${baseUrl}/checkout/${tx_token}?back=1${given.lang ? `&lang=${given.lang}` : ''}`

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
  ends_at: requestEndsAt(attempt, account.terms(attempt.payment_method).lifetimeMs ?? 0),
  is_first_sending: attempt.resent_at === null, // earlier sendings, if any, never left this process
  provider_code: attempt.provider_code,
  check_reversals: attempt.check_reversals,
  tx_reference: payment.tx_reference,
  invoice_id: payment.invoice_id,
  payment_method: attempt.payment_method,
  amount: payment.total,
  currency: payment.currency,
  given: attempt.given,
  merchant_id: payment.merchant_id,
  merchant_name: stripBidiControls(payment.merchant_name), // a phone shows it beside the amount
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
