import type { ReplyContext } from '../../core/payment/applyReply.ts'
import type { Verb } from '../../core/provider/circuitBreaker.ts'
import type { Order } from '../../core/provider/order.ts'
import type { ProviderAccount } from '../../core/provider/provider.ts'
import { CredentialsRefused, NotSent, type SanitizedReply } from '../../core/provider/reply.ts'
import { sanitizeReply } from '../../core/provider/sanitizeReply.ts'
import { cleanError } from '../../core/text.ts'
import { type Timer, timerOf, withinDeadline } from '../deadline.ts'
import { type HealthMonitor, noHealthMonitor } from './healthMonitor.ts'

// A provider account as the rest of the program uses it: every call ends within its timeout and returns a sanitized reply.
export type GuardedAccount = Pick<
  ProviderAccount,
  'account' | 'startIsIdempotent' | 'testerPage' | 'handleWebhook' | 'checkCredentials'
> & {
  newIdempotencyKey(attempt_id: string): string | null // null: the attempt_id itself
  terms(payment_method: string): MethodTerms
  startTimeoutMs: number
  pollTimeoutMs: number
  mayStart(): boolean // false: the breaker would block an order now
  start(order: Order): Promise<SanitizedReply>
  check(order: Order): Promise<SanitizedReply>
  submit(order: Order, step: string, input: Readonly<Record<string, string>>): Promise<SanitizedReply>
  giveUp?(order: Order): Promise<SanitizedReply>
}

// What the provider states about itself, as far as it matters for an attempt by this payment method.
export type MethodTerms = Omit<ReplyContext, 'askedAt' | 'sends' | 'submits'>

export const defaultTimeoutMs = 5000
const maxUnderWay = 500 // calls of one account that wait for the provider
const maxWords = 200

export function guardAccount(
  providerAccount: ProviderAccount,
  timer?: Timer,
  monitor: HealthMonitor = noHealthMonitor,
): GuardedAccount {
  const { timing = {}, giveUp, submit } = providerAccount
  const { startTimeoutMs = defaultTimeoutMs, pollTimeoutMs = defaultTimeoutMs } = timing
  const starting = { timeoutMs: startTimeoutMs, timer: timer ?? timerOf(startTimeoutMs) }
  const polling = { timeoutMs: pollTimeoutMs, timer: timer ?? timerOf(pollTimeoutMs) }
  const order: CallKind = { verb: 'start', judgesAccount: true, ...starting }
  const question: CallKind = { verb: 'ask', judgesAccount: true, ...polling }
  // An open breaker does not block submissions. The customer's input decides how they are answered, so a customer could
  // pause the account for everyone: the status question that follows a submission judges the account instead.
  const submission: CallKind = { verb: 'ask', judgesAccount: false, ...starting }
  const call = createGuardedCall(providerAccount, monitor)

  return {
    account: providerAccount.account,
    startIsIdempotent: providerAccount.startIsIdempotent,
    startTimeoutMs,
    pollTimeoutMs,
    testerPage: providerAccount.mode === 'test' ? providerAccount.testerPage : undefined,
    handleWebhook: providerAccount.handleWebhook,
    checkCredentials: providerAccount.checkCredentials,
    newIdempotencyKey: attempt_id => providerAccount.newIdempotencyKey?.(attempt_id) ?? null,
    terms: payment_method => termsOf(providerAccount, payment_method),
    mayStart: () => monitor.whyBlocked('start') === undefined,
    start: one => call(one, order, signal => providerAccount.start(one, signal)),
    check: async one => asQuestion(await call(one, question, signal => providerAccount.check(one, signal))),
    submit: async (one, step, input) =>
      submit
        ? asQuestion(await call(one, submission, signal => submit(one, step, input, signal)))
        : { state: 'unknown', words: 'The provider has no further steps.' },
    ...(giveUp && {
      giveUp: async (one: Order) => asQuestion(await call(one, question, signal => giveUp(one, signal))),
    }),
  }
}

function termsOf(providerAccount: ProviderAccount, payment_method: string): MethodTerms {
  const { methods, visibleWithinMs, failureMayReverseForMs, timing = {} } = providerAccount
  const lifetimeMs = methods.find(method => method.payment_method === payment_method)?.lifetimeMs
  const absentForMs = Math.max(visibleWithinMs, lifetimeMs ?? Infinity)
  return { absentForMs, lifetimeMs, failureMayReverseForMs, timing }
}

type CallKind = { verb: Verb; judgesAccount: boolean; timeoutMs: number; timer: Timer }
type Work = (signal: AbortSignal) => Promise<unknown>

// Every call to a provider runs through here. A blocked call is not sent: a worker finds the attempt due and calls later.
// A call that waits for the rate limit has at least half of its timeout left for the provider's answer.
function createGuardedCall(providerAccount: ProviderAccount, monitor: HealthMonitor) {
  let underWay = 0

  async function send(order: Order, kind: CallKind, work: Work): Promise<SanitizedReply> {
    const { verb, judgesAccount, timeoutMs, timer } = kind
    const finish = monitor.begin(verb, order, judgesAccount)
    let sentAt: number | undefined
    const sendNow: Work = signal => {
      sentAt = performance.now()
      return work(signal)
    }
    const sendInTurn: Work = signal =>
      monitor.waitForTurn
        ? monitor.waitForTurn(verb, timeoutMs / 2, signal).then(() => sendNow(signal))
        : sendNow(signal)
    underWay++
    const reply = await withinDeadline(sendInTurn, timer, 'no answer in time')
      .then(raw => sanitizeReply(raw, orderIdOf(providerAccount, order)))
      .catch(replyOfError)
    underWay--
    const isSent = sentAt !== undefined
    return (
      finish(isSent ? { reply, delayMs: performance.now() - Number(sentAt), timeoutMs } : undefined) ?? reply
    )
  }

  return async (order: Order, kind: CallKind, work: Work): Promise<SanitizedReply> => {
    const why = underWay >= maxUnderWay ? 'Too many orders are under way.' : monitor.whyBlocked(kind.verb)
    if (why === undefined) return send(order, kind, work)
    monitor.postpone(kind.verb, order)
    return { state: 'not_sent', words: why }
  }
}

// What the provider's replies name the order by.
const orderIdOf = ({ providerOrderId }: ProviderAccount, order: Order) =>
  providerOrderId ? providerOrderId(order) : order.idempotency_key

function replyOfError(error: unknown): SanitizedReply {
  const words = cleanError(error, maxWords)
  const isRefusal =
    error instanceof CredentialsRefused ||
    (error instanceof Error && error.cause instanceof CredentialsRefused)
  return {
    state: error instanceof NotSent ? 'not_sent' : 'unknown',
    words,
    ...(isRefusal && { isRefusal }),
  }
}

// A question that was not sent says nothing about the order.
const asQuestion = (reply: SanitizedReply): SanitizedReply =>
  reply.state === 'not_sent' ? { ...reply, state: 'unknown' } : reply
