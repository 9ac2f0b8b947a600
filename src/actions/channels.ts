import { readdirSync } from 'node:fs'
import type { Channel, ChannelSettings, MakeChannel, Reply, Way } from '../core/channel.ts'
import type { Currency } from '../core/money.ts'
import type { Mode } from '../core/payment.ts'

// A way to pay with the name of the channel that serves it.
export type Offer = Way & { channel: string }

export type Channels = {
  offers(mode: Mode, currency: Currency): Offer[]
  find(name: string): Channel | undefined
}

const maxUnderWay = 500 // orders and questions of one channel that wait for its provider

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
    if (channel) channels.set(name, bounded(channel))
  }
  return channelsOf(channels)
}

// A slow provider must not fill the house with waiting orders. One that is not sent now is found due by a worker,
// which asks, hears that the provider does not know it, and sends it.
function bounded(channel: Channel): Channel {
  let underWay = 0
  const within = async (call: () => Promise<Reply>): Promise<Reply> => {
    if (underWay >= maxUnderWay) return { state: 'unknown', words: 'Too many orders are under way.' }
    underWay++
    return call().finally(() => underWay--)
  }
  return {
    ...channel,
    start: order => within(() => channel.start(order)),
    check: order => within(() => channel.check(order)),
  }
}

export function channelsOf(channels: ReadonlyMap<string, Channel>): Channels {
  return {
    find: name => channels.get(name),
    offers(mode, currency) {
      const offers = new Map<string, Offer>()
      for (const [channel, { mode: served, ways }] of channels)
        for (const way of ways)
          if (served === mode && way.currencies.includes(currency) && !offers.has(way.payment_method))
            offers.set(way.payment_method, { ...way, channel })
      return [...offers.values()]
    },
  }
}
