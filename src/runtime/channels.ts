import { readdirSync } from 'node:fs'
import {
  type Channel,
  type ChannelSettings,
  type Heard,
  type MakeChannel,
  NotSent,
  type Order,
  type TestEnding,
  type Way,
} from '../core/channel/channel.ts'
import { understand } from '../core/channel/understand.ts'
import type { Mode } from '../core/mode.ts'
import type { Currency } from '../core/money.ts'
import { cleanError } from '../core/stranger.ts'
import { timerOf, withinDeadline } from './deadline.ts'

// A way to pay with the name of the channel that serves it, and the endings that a tester has there where that plays.
export type Offer = Way & { channel: string; testEndings?: readonly TestEnding[] }

// A channel as the house uses it: it always answers, soon, and with something that can be written down.
export type GuardedChannel = Pick<Channel, 'account' | 'startIsIdempotent' | 'testerPage'> & {
  absentForMs(payment_method: string): number // before that, absent is not believed
  livesForMs(payment_method: string): number | undefined // what was sent
  start(order: Order): Promise<Heard>
  check(order: Order): Promise<Heard>
  giveUp?(order: Order): Promise<Heard>
}

export type Channels = {
  names: readonly string[]
  offers(mode: Mode, currency: Currency): Offer[]
  find(name: string): GuardedChannel | undefined
}

export const callDeadlineMs = 5000
const deadline = timerOf(callDeadlineMs)
const maxUnderWay = 500 // orders and questions of one channel that wait for its provider
const maxWords = 200

const ourFolder = new URL('../channels/', import.meta.url)

// The folder is the registry: every file in it is a channel, named as the file is. What has no settings is not
// offered. The first channel by name wins where two serve the same way in one mode.
export async function openChannels(settings: ChannelSettings, folder = ourFolder): Promise<Channels> {
  const channels = new Map<string, Channel>()
  for (const file of readdirSync(folder).sort()) {
    const name = /^(\w+)\.[jt]s$/.exec(file)?.[1]
    if (!name) continue
    const { default: make } = (await import(new URL(file, folder).href)) as { default: MakeChannel }
    const channel = make(settings)
    if (channel) channels.set(name, mustSayItsTerms(name, channel))
  }
  return channelsOf(channels)
}

// A file that was written for an older version may lack them, and what it does not say we must not guess.
function mustSayItsTerms(name: string, channel: Channel): Channel {
  const { account, startIsIdempotent, visibleWithinMs, ways } = channel
  const times = [visibleWithinMs, ...ways.map(({ livesForMs }) => livesForMs)]
  if (
    typeof account !== 'string' ||
    !/^[^\p{Cc}]{1,100}$/u.test(account) ||
    typeof startIsIdempotent !== 'boolean' ||
    !times.every(ms => ms >= 0)
  )
    throw new Error(
      `The channel ${name} must say its account, startIsIdempotent, visibleWithinMs and the livesForMs of each way.`,
    )
  return channel
}

export function channelsOf(channels: ReadonlyMap<string, Channel>, timer = deadline): Channels {
  const lines = new Map([...channels].map(([name, channel]) => [name, guardChannel(channel, timer)]))
  return {
    names: [...channels.keys()],
    find: name => lines.get(name),
    offers(mode, currency) {
      const offers = new Map<string, Offer>()
      for (const [channel, { mode: served, ways, testEndings }] of channels)
        for (const way of ways)
          if (served === mode && way.currencies.includes(currency) && !offers.has(way.payment_method))
            offers.set(way.payment_method, { ...way, channel, ...endingsOf(way, mode, testEndings) })
      return [...offers.values()]
    },
  }
}

// Nobody plays with real money, whatever a channel says.
function endingsOf({ payment_method }: Way, mode: Mode, testEndings?: readonly TestEnding[]) {
  if (mode !== 'test' || !testEndings) return {}
  return { testEndings: testEndings.filter(ending => ending.payment_method === payment_method) }
}

// Whatever a channel does, here it has an end, a bound and an answer that we understand. A slow provider must not fill
// the house with waiting orders: one that is not sent now is found due by a worker, which sends it.
export function guardChannel(channel: Channel, timer = deadline): GuardedChannel {
  const { account, startIsIdempotent, visibleWithinMs, ways } = channel
  let underWay = 0
  async function call(order: Order, work: (signal: AbortSignal) => Promise<unknown>): Promise<Heard> {
    if (underWay >= maxUnderWay) return notSent('Too many orders are under way.')
    underWay++
    try {
      const told = await withinDeadline(work, timer, 'no answer in time')
      return understand(told, channel.nameOf ? channel.nameOf(order) : order.attempt_id)
    } catch (error) {
      const words = cleanError(error, maxWords)
      return error instanceof NotSent ? notSent(words) : { state: 'unknown', words }
    } finally {
      underWay--
    }
  }
  const { giveUp } = channel
  const livesForMs = (payment_method: string) =>
    ways.find(one => one.payment_method === payment_method)?.livesForMs
  return {
    account,
    startIsIdempotent,
    testerPage: channel.mode === 'test' ? channel.testerPage : undefined,
    livesForMs,
    absentForMs: payment_method => Math.max(visibleWithinMs, livesForMs(payment_method) ?? Infinity),
    start: order => call(order, signal => channel.start(order, signal)),
    check: async order => onlyAsked(await call(order, signal => channel.check(order, signal))),
    ...(giveUp && {
      giveUp: async (order: Order) => onlyAsked(await call(order, signal => giveUp(order, signal))),
    }),
  }
}

const notSent = (words: string): Heard => ({ state: 'not_sent', words })

// A question that did not leave says nothing about the order.
const onlyAsked = (heard: Heard): Heard =>
  heard.state === 'not_sent' ? { state: 'unknown', words: heard.words } : heard
