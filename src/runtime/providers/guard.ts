import type { ReplyContext } from '../../core/payment/applyReply.ts'
import type { Verb } from '../../core/provider/breaker.ts'
import type { Order } from '../../core/provider/order.ts'
import type { ProviderAccount } from '../../core/provider/provider.ts'
import { CredentialsRefused, NotSent, type SanitizedReply } from '../../core/provider/reply.ts'
import { sanitizeReply } from '../../core/provider/sanitizeReply.ts'
import { cleanError } from '../../core/text.ts'
import { type Timer, timerOf, withinDeadline } from '../deadline.ts'
import { type HealthMonitor, noHealthMonitor } from './healthMonitor.ts'

// A provider as the house uses it: it always answers, soon, and with something that can be written down.
export type GuardedAccount = Pick<
  ProviderAccount,
  'account' | 'startIsIdempotent' | 'testerPage' | 'handleWebhook' | 'checkCredentials'
> & {
  newIdempotencyKey(attempt_id: string): string | null // null: the attempt_id itself
  terms(payment_method: string): MethodTerms
  startTimeoutMs: number
  pollTimeoutMs: number
  mayStart(): boolean // an order that is sent now would leave
  start(order: Order): Promise<SanitizedReply>
  check(order: Order): Promise<SanitizedReply>
  submit(order: Order, step: string, input: Readonly<Record<string, string>>): Promise<SanitizedReply>
  giveUp?(order: Order): Promise<SanitizedReply>
}

// What a provider says of its provider, as far as it counts for an attempt of this way.
export type MethodTerms = Omit<ReplyContext, 'askedAt' | 'sends' | 'submits'>

export const defaultTimeoutMs = 5000
const maxUnderWay = 500 // orders and questions of one provider that wait for its provider
const maxWords = 200

// Whatever a provider does, here it has an end, a bound and an answer that we understand. A slow provider must not fill
// the house with waiting orders: one that is not sent now is found due by a worker, which sends it. The health monitor says what may
// leave, and when: whoever waits for a turn has half of the time left at least.
export function guardAccount(
  providerAccount: ProviderAccount,
  timer?: Timer,
  monitor: HealthMonitor = noHealthMonitor,
): GuardedAccount {
  const {
    account,
    startIsIdempotent,
    visibleWithinMs,
    failureMayReverseForMs,
    methods,
    timing = {},
    giveUp,
    submit,
  } = providerAccount
  const { startTimeoutMs = defaultTimeoutMs, pollTimeoutMs = defaultTimeoutMs } = timing
  const starting: Kind = {
    verb: 'start',
    withinMs: startTimeoutMs,
    timer: timer ?? timerOf(startTimeoutMs),
    judgesAccount: true,
  }
  const asking: Kind = {
    verb: 'ask',
    withinMs: pollTimeoutMs,
    timer: timer ?? timerOf(pollTimeoutMs),
    judgesAccount: true,
  }
  // A submission goes on while new orders wait for the breaker. What the customer typed decides its answer, so a customer
  // could pause the account for all others: the status question that follows judges the account instead.
  const submitting: Kind = { ...starting, verb: 'ask', judgesAccount: false }
  let underWay = 0

  async function call(order: Order, kind: Kind, work: (signal: AbortSignal) => Promise<unknown>) {
    const why = underWay >= maxUnderWay ? 'Too many orders are under way.' : monitor.whyNot(kind.verb)
    if (why === undefined) return inTime(order, kind, work)
    monitor.postpone(kind.verb, order)
    return notSent(why)
  }

  async function inTime(
    order: Order,
    { verb, withinMs, timer: deadline, judgesAccount }: Kind,
    work: (signal: AbortSignal) => Promise<unknown>,
  ): Promise<SanitizedReply> {
    const tell = monitor.begin(verb, order, judgesAccount)
    let leftAt: number | undefined
    const leave = (signal: AbortSignal) => {
      leftAt = performance.now()
      return work(signal)
    }
    const inTurn = (signal: AbortSignal) =>
      monitor.turn ? monitor.turn(verb, withinMs / 2, signal).then(() => leave(signal)) : leave(signal)
    underWay++
    const heard = await withinDeadline(inTurn, deadline, 'no answer in time')
      .then(told =>
        sanitizeReply(
          told,
          providerAccount.providerOrderId ? providerAccount.providerOrderId(order) : order.idempotency_key,
        ),
      )
      .catch(noAnswer)
    underWay--
    const came = leftAt === undefined ? undefined : { heard, delayMs: performance.now() - leftAt, withinMs }
    return tell(came) ?? heard
  }

  return {
    account,
    startIsIdempotent,
    startTimeoutMs,
    pollTimeoutMs,
    testerPage: providerAccount.mode === 'test' ? providerAccount.testerPage : undefined,
    handleWebhook: providerAccount.handleWebhook,
    checkCredentials: providerAccount.checkCredentials,
    newIdempotencyKey: attempt_id => providerAccount.newIdempotencyKey?.(attempt_id) ?? null,
    terms(payment_method) {
      const lifetimeMs = methods.find(one => one.payment_method === payment_method)?.lifetimeMs
      const absentForMs = Math.max(visibleWithinMs, lifetimeMs ?? Infinity)
      return { absentForMs, lifetimeMs, failureMayReverseForMs, timing }
    },
    mayStart: () => monitor.whyNot('start') === undefined,
    start: order => call(order, starting, signal => providerAccount.start(order, signal)),
    check: async order =>
      onlyAsked(await call(order, asking, signal => providerAccount.check(order, signal))),
    submit: async (order, step, input) =>
      submit
        ? onlyAsked(await call(order, submitting, signal => submit(order, step, input, signal)))
        : { state: 'unknown', words: 'The provider has no further steps.' },
    ...(giveUp && {
      giveUp: async (order: Order) => onlyAsked(await call(order, asking, signal => giveUp(order, signal))),
    }),
  }
}

// How a call is made: an order, or a question about one.
type Kind = { verb: Verb; withinMs: number; timer: Timer; judgesAccount: boolean }

function noAnswer(error: unknown): SanitizedReply {
  const words = cleanError(error, maxWords)
  const refusal = isRefusal(error) ? { isRefusal: true as const } : {}
  return { state: error instanceof NotSent ? 'not_sent' : 'unknown', words, ...refusal }
}

const isRefusal = (error: unknown) =>
  error instanceof CredentialsRefused || (error instanceof Error && error.cause instanceof CredentialsRefused)

const notSent = (words: string): SanitizedReply => ({ state: 'not_sent', words })

// A question that did not leave says nothing about the order.
const onlyAsked = (reply: SanitizedReply): SanitizedReply =>
  reply.state === 'not_sent' ? { ...reply, state: 'unknown' } : reply
