import type { CallOutcome, Verb } from '../../core/provider/circuitBreaker.ts'
import type { ProviderTiming } from '../../core/provider/provider.ts'
import type { ProviderRefunds, RefundOrder, SanitizedRefundReply } from '../../core/provider/refundOrder.ts'
import { NotSent } from '../../core/provider/reply.ts'
import { sanitizeRefundReply } from '../../core/provider/sanitizeRefundReply.ts'
import { type Timer, timerOf, withinDeadline } from '../deadline.ts'
import { AccountMonitor } from './healthMonitor.ts'
import { inProviderSpan } from './providerSpan.ts'
import type { WaitForTurn } from './rateLimiter.ts'
import { replyOfError } from './replyOfError.ts'

// The refunds of a provider account as the rest of the program uses them: every call ends within its timeout and returns a
// sanitized reply.
export type GuardedRefunds = Omit<ProviderRefunds, 'newIdempotencyKey' | 'refund' | 'checkRefund'> & {
  timing: ProviderTiming
  newIdempotencyKey(refund_reference: string): string | null // null: the refund_reference itself
  refund(order: RefundOrder): Promise<SanitizedRefundReply>
  checkRefund(order: RefundOrder): Promise<SanitizedRefundReply>
}

type RefundGuardOptions = {
  account: string
  timing: ProviderTiming
  defaultTimeoutMs: number
  timer?: Timer
  monitor?: AccountMonitor // of the account
  waitForTurn?: WaitForTurn
  whyNotCall(): string | undefined
  isSimulated: boolean
}

const maxUnderWay = 100 // refund calls of one account that wait for the provider

// Refunds share the rate limit with payments, because it is the provider's, and wait behind them: no customer waits for a
// refund. A pause that the provider asked for in reply to an order applies to refunds too.
// They have a separate circuit breaker and change neither the health nor the refusal of the account: refunds may use
// another product with other credentials, as MTN's do. A wrong key there must not take payment methods off the checkout,
// and an answered refund must not hide that orders fail. If both use one key, orders show the same trouble themselves. A
// refund that is refused or blocked was not sent: the reply's words tell the operator why, and it is sent again later.
export function guardRefunds(refunds: ProviderRefunds, options: RefundGuardOptions): GuardedRefunds {
  const { timing, monitor, timer, waitForTurn, isSimulated, defaultTimeoutMs } = options
  const { startTimeoutMs = defaultTimeoutMs, pollTimeoutMs = defaultTimeoutMs } = timing
  const refundMonitor = monitor && new AccountMonitor(monitor.account, monitor.options)
  let underWay = 0

  async function call(verb: Verb, order: RefundOrder, timeoutMs: number, work: RefundWork) {
    const why =
      options.whyNotCall() ??
      (underWay >= maxUnderWay
        ? 'Too many refunds are under way.'
        : (monitor?.whyBlocked('ask') ?? refundMonitor?.whyBlocked(verb)))
    const recordCall = refundMonitor?.trackCall(verb, order.refund_reference)
    let sentAt: number | undefined
    const send: RefundWork = async signal => {
      if (why !== undefined) throw new NotSent(why)
      if (waitForTurn) await waitForTurn('ask', timeoutMs / 2, signal)
      sentAt = performance.now()
      return work(signal)
    }
    underWay++
    const { attempt_id, payment_method } = order.charge
    const observedVerb = verb === 'start' ? ('refund' as const) : ('ask_refund' as const)
    const facts = { account: options.account, payment_method, verb: observedVerb }
    const reply = await inProviderSpan(facts, () =>
      withinDeadline(send, timer ?? timerOf(timeoutMs), 'no answer in time')
        .then(raw => sanitizeRefundReply(raw, order))
        .catch((error: unknown): SanitizedRefundReply => replyOfError(error)),
    )
    underWay--
    const outcome = sentAt === undefined ? 'put_off' : outcomeOf(reply)
    const pauseMs = reply.state === 'unknown' ? reply.restMs : undefined
    if (pauseMs) refundMonitor?.pause(pauseMs)
    recordCall?.(outcome === 'put_off' || pauseMs || isSimulated ? undefined : outcome)
    monitor?.options.watch({
      attempt_id,
      payment_method,
      verb: observedVerb,
      account: monitor.account,
      outcome,
      delayMs: performance.now() - (sentAt ?? performance.now()),
    })
    // A question that was not sent proves nothing about the refund.
    return verb === 'ask' && reply.state === 'not_sent' ? { ...reply, state: 'unknown' as const } : reply
  }

  return {
    ...refunds,
    timing,
    newIdempotencyKey: refund_reference => refunds.newIdempotencyKey?.(refund_reference) ?? null,
    refund: order => call('start', order, startTimeoutMs, signal => refunds.refund(order, signal)),
    checkRefund: order => call('ask', order, pollTimeoutMs, signal => refunds.checkRefund(order, signal)),
  }
}

type RefundWork = (signal: AbortSignal) => Promise<unknown>

// A reply with a code is an answer: the provider is reachable.
function outcomeOf(reply: SanitizedRefundReply): CallOutcome {
  if (reply.state === 'not_sent') return 'not_sent'
  if (reply.state !== 'unknown') return 'answered'
  return reply.acknowledged || (reply.provider_code && !reply.isRefusal) ? 'answered' : 'unanswered'
}
