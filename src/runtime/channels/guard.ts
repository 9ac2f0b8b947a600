import type { Verb } from '../../core/channel/breaker.ts'
import type { Channel } from '../../core/channel/channel.ts'
import type { Order } from '../../core/channel/order.ts'
import { CredentialsRefused, type Heard, NotSent } from '../../core/channel/reply.ts'
import { understand } from '../../core/channel/understand.ts'
import type { Worth } from '../../core/payment/applyReply.ts'
import { cleanError } from '../../core/stranger.ts'
import { type Timer, timerOf, withinDeadline } from '../deadline.ts'
import { type Keeper, noKeeper } from './keeper.ts'

// A channel as the house uses it: it always answers, soon, and with something that can be written down.
export type GuardedChannel = Pick<
  Channel,
  'account' | 'startIsIdempotent' | 'testerPage' | 'hear' | 'test'
> & {
  newKey(attempt_id: string): string | null // null: the attempt_id itself
  terms(payment_method: string): ChannelTerms
  startWithinMs: number
  askWithinMs: number
  mayStart(): boolean // an order that is sent now would leave
  start(order: Order): Promise<Heard>
  check(order: Order): Promise<Heard>
  submit(order: Order, step: string, typed: Readonly<Record<string, string>>): Promise<Heard>
  giveUp?(order: Order): Promise<Heard>
}

// What a channel says of its provider, as far as it counts for an attempt of this way.
export type ChannelTerms = Omit<Worth, 'askedAt' | 'sends' | 'submits'>

export const usualDeadlineMs = 5000
const maxUnderWay = 500 // orders and questions of one channel that wait for its provider
const maxWords = 200

// Whatever a channel does, here it has an end, a bound and an answer that we understand. A slow provider must not fill
// the house with waiting orders: one that is not sent now is found due by a worker, which sends it. The keeper says what may
// leave, and when: whoever waits for a turn has half of the time left at least.
export function guardChannel(channel: Channel, timer?: Timer, keeper: Keeper = noKeeper): GuardedChannel {
  const {
    account,
    startIsIdempotent,
    visibleWithinMs,
    noMayTurnForMs,
    ways,
    pace = {},
    giveUp,
    submit,
  } = channel
  const { startWithinMs = usualDeadlineMs, askWithinMs = usualDeadlineMs } = pace
  const starting: Kind = {
    verb: 'start',
    withinMs: startWithinMs,
    timer: timer ?? timerOf(startWithinMs),
    judgesAccount: true,
  }
  const asking: Kind = {
    verb: 'ask',
    withinMs: askWithinMs,
    timer: timer ?? timerOf(askWithinMs),
    judgesAccount: true,
  }
  // A submission goes on while new orders wait for the breaker. What the customer typed decides its answer, so a customer
  // could pause the account for all others: the status question that follows judges the account instead.
  const submitting: Kind = { ...starting, verb: 'ask', judgesAccount: false }
  let underWay = 0

  async function call(order: Order, kind: Kind, work: (signal: AbortSignal) => Promise<unknown>) {
    const why = underWay >= maxUnderWay ? 'Too many orders are under way.' : keeper.whyNot(kind.verb)
    if (why === undefined) return inTime(order, kind, work)
    keeper.putOff(kind.verb, order)
    return notSent(why)
  }

  async function inTime(
    order: Order,
    { verb, withinMs, timer: deadline, judgesAccount }: Kind,
    work: (signal: AbortSignal) => Promise<unknown>,
  ): Promise<Heard> {
    const tell = keeper.begin(verb, order, judgesAccount)
    let leftAt: number | undefined
    const leave = (signal: AbortSignal) => {
      leftAt = performance.now()
      return work(signal)
    }
    const inTurn = (signal: AbortSignal) =>
      keeper.turn ? keeper.turn(verb, withinMs / 2, signal).then(() => leave(signal)) : leave(signal)
    underWay++
    const heard = await withinDeadline(inTurn, deadline, 'no answer in time')
      .then(told => understand(told, channel.nameOf ? channel.nameOf(order) : order.key))
      .catch(noAnswer)
    underWay--
    const came = leftAt === undefined ? undefined : { heard, delayMs: performance.now() - leftAt, withinMs }
    return tell(came) ?? heard
  }

  return {
    account,
    startIsIdempotent,
    startWithinMs,
    askWithinMs,
    testerPage: channel.mode === 'test' ? channel.testerPage : undefined,
    hear: channel.hear,
    test: channel.test,
    newKey: attempt_id => channel.newKey?.(attempt_id) ?? null,
    terms(payment_method) {
      const livesForMs = ways.find(one => one.payment_method === payment_method)?.livesForMs
      const absentForMs = Math.max(visibleWithinMs, livesForMs ?? Infinity)
      return { absentForMs, livesForMs, noMayTurnForMs, pace }
    },
    mayStart: () => keeper.whyNot('start') === undefined,
    start: order => call(order, starting, signal => channel.start(order, signal)),
    check: async order => onlyAsked(await call(order, asking, signal => channel.check(order, signal))),
    submit: async (order, step, typed) =>
      submit
        ? onlyAsked(await call(order, submitting, signal => submit(order, step, typed, signal)))
        : { state: 'unknown', words: 'The channel has no further steps.' },
    ...(giveUp && {
      giveUp: async (order: Order) => onlyAsked(await call(order, asking, signal => giveUp(order, signal))),
    }),
  }
}

// How a call is made: an order, or a question about one.
type Kind = { verb: Verb; withinMs: number; timer: Timer; judgesAccount: boolean }

function noAnswer(error: unknown): Heard {
  const words = cleanError(error, maxWords)
  const refusal = isRefusal(error) ? { isRefusal: true as const } : {}
  return { state: error instanceof NotSent ? 'not_sent' : 'unknown', words, ...refusal }
}

const isRefusal = (error: unknown) =>
  error instanceof CredentialsRefused || (error instanceof Error && error.cause instanceof CredentialsRefused)

const notSent = (words: string): Heard => ({ state: 'not_sent', words })

// A question that did not leave says nothing about the order.
const onlyAsked = (heard: Heard): Heard =>
  heard.state === 'not_sent' ? { ...heard, state: 'unknown' } : heard
