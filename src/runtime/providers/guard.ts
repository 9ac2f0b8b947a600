import type { ReplyContext } from '../../core/payment/applyReply.ts'
import type { Verb } from '../../core/provider/circuitBreaker.ts'
import type { Order } from '../../core/provider/order.ts'
import type { ProviderAccount } from '../../core/provider/provider.ts'
import { NotSent, type SanitizedReply } from '../../core/provider/reply.ts'
import { sanitizeReply } from '../../core/provider/sanitizeReply.ts'
import { type Timer, timerOf, withinDeadline } from '../deadline.ts'
import { type GuardedRefunds, guardRefunds } from './guardRefunds.ts'
import type { AccountMonitor } from './healthMonitor.ts'
import { inProviderSpan } from './providerSpan.ts'
import { createRateLimiter } from './rateLimiter.ts'
import { replyOfError } from './replyOfError.ts'

// A provider account as the rest of the program uses it: every call ends within its timeout and returns a sanitized reply.
export type GuardedAccount = Pick<
  ProviderAccount,
  'account' | 'startIsIdempotent' | 'testerPage' | 'handleWebhook'
> & {
  ownedBy?: string | null // the merchant that the account was added for
  newIdempotencyKey(attempt_id: string): string | null // null: the attempt_id itself
  terms(payment_method: string): MethodTerms
  mayStart(): boolean // false: the breaker would block an order now
  probe(): Promise<void> // checks the credentials, which charges nothing, if the breaker is due for a probe
  start(order: Order): Promise<SanitizedReply>
  check(order: Order): Promise<SanitizedReply>
  submit(order: Order, step: string, input: Readonly<Record<string, string>>): Promise<SanitizedReply>
  giveUp?(order: Order): Promise<SanitizedReply>
  refunds?: GuardedRefunds // undefined: refunds of its charges are of kind `manual`
}

// What the provider states about itself, as far as it matters for an attempt by this payment method.
type MethodTerms = Omit<ReplyContext, 'askedAt' | 'sends' | 'submits'>

const defaultTimeoutMs = 5000
const maxUnderWay = 500 // calls of one account that wait for the provider

export function guardAccount(
  providerAccount: ProviderAccount,
  timer?: Timer,
  monitor?: AccountMonitor,
  whyNotCall: () => string | undefined = () => undefined, // the database is a copy: the last barrier before the provider
): GuardedAccount {
  const { mode, timing = {}, testEndings, testerPage, checkCredentials } = providerAccount
  const { giveUp, submit, refunds, refundTiming = timing } = providerAccount
  const { startTimeoutMs = defaultTimeoutMs, pollTimeoutMs = defaultTimeoutMs } = timing
  const waitForTurn = monitor && createRateLimiter(timing, monitor.options.nodes, monitor.options.monotonicMs)
  const isSimulated = mode === 'test' && testEndings !== undefined
  let underWay = 0

  // Every call to a provider runs through here. A blocked call is not sent: a worker finds the attempt due and calls later.
  // A call that waits for the rate limit has at least half of its timeout left for the provider's answer.
  async function call(verb: Verb, order: Order, timeoutMs: number, work: Work, isSubmission = false) {
    const why =
      whyNotCall() ?? (underWay >= maxUnderWay ? 'Too many orders are under way.' : monitor?.whyBlocked(verb))
    const finish = monitor?.begin({ ...order, verb, isSubmission, isSimulated })
    let sentAt: number | undefined
    const send: Work = async signal => {
      if (why !== undefined) throw new NotSent(why)
      if (waitForTurn) await waitForTurn(verb, timeoutMs / 2, signal)
      sentAt = performance.now()
      return work(signal)
    }
    underWay++
    const facts = { account: providerAccount.account, payment_method: order.payment_method, verb }
    const reply = await inProviderSpan(facts, () =>
      withinDeadline(send, timer ?? timerOf(timeoutMs), 'no answer in time')
        .then(raw => sanitizeReply(raw, providerAccount.providerOrderId?.(order) ?? order.idempotency_key))
        .catch((error: unknown): SanitizedReply => replyOfError(error)),
    )
    underWay--
    const delayMs = performance.now() - (sentAt ?? 0)
    const judged = finish?.(sentAt === undefined ? undefined : { reply, delayMs, timeoutMs }) ?? reply
    // A question that was not sent proves nothing about the order.
    return verb === 'ask' && judged.state === 'not_sent' ? { ...judged, state: 'unknown' as const } : judged
  }

  return {
    ...providerAccount,
    testerPage: mode === 'test' ? testerPage : undefined,
    newIdempotencyKey: attempt_id => providerAccount.newIdempotencyKey?.(attempt_id) ?? null,
    terms(payment_method) {
      const { methods, visibleWithinMs, failureMayReverseForMs } = providerAccount
      const lifetimeMs = methods.find(method => method.payment_method === payment_method)?.lifetimeMs
      const absentForMs = Math.max(visibleWithinMs, lifetimeMs ?? Infinity)
      return { absentForMs, lifetimeMs, failureMayReverseForMs, timing }
    },
    mayStart: () => whyNotCall() === undefined && monitor?.whyBlocked('start') === undefined,
    async probe() {
      if (!checkCredentials || !monitor?.takeProbe()) return
      const recordCall = monitor.trackCall('ask', 'test')
      const checking = withinDeadline(checkCredentials, timerOf(pollTimeoutMs), 'no answer in time')
      const takesPayments = await checking
        .then(({ isValid, isForRefunds }) => isValid || isForRefunds === true)
        .catch(() => false)
      recordCall(takesPayments ? 'answered' : 'unanswered')
    },
    start: order => call('start', order, startTimeoutMs, signal => providerAccount.start(order, signal)),
    check: order => call('ask', order, pollTimeoutMs, signal => providerAccount.check(order, signal)),
    // An open breaker does not block submissions. The status question that follows a submission judges the account.
    submit: async (order, step, input) =>
      submit
        ? call('ask', order, startTimeoutMs, signal => submit(order, step, input, signal), true)
        : { state: 'unknown', words: 'The provider has no further steps.' },
    giveUp: giveUp && (order => call('ask', order, pollTimeoutMs, signal => giveUp(order, signal))),
    refunds:
      refunds &&
      guardRefunds(refunds, {
        account: providerAccount.account,
        timing: refundTiming,
        defaultTimeoutMs,
        timer,
        monitor,
        waitForTurn,
        whyNotCall,
        isSimulated,
      }),
  }
}

type Work = (signal: AbortSignal) => Promise<unknown>
