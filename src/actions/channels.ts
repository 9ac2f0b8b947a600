import { readdirSync } from 'node:fs'
import type { Channel, ChannelSettings, MakeChannel, Way } from '../core/channel.ts'
import type { Currency } from '../core/money.ts'
import type { Mode } from '../core/payment.ts'

// A way to pay with the name of the channel that serves it.
export type Offer = Way & { channel: string }

export type Channels = {
  offers(mode: Mode, currency: Currency): Offer[]
  find(name: string): Channel | undefined
}

const folder = new URL('../channels/', import.meta.url)

// The folder is the registry: every file in it is a channel, named as the file is. What has no settings is not
// offered. The first channel by name wins where two serve the same way in one mode.
export async function openChannels(settings: ChannelSettings): Promise<Channels> {
  const channels = new Map<string, Channel>()
  for (const file of readdirSync(folder).sort()) {
    const name = /^(\w+)\.[jt]s$/.exec(file)?.[1]
    if (!name) continue
    const { default: make } = (await import(new URL(file, folder).href)) as { default: MakeChannel }
    const channel = make(settings)
    if (channel) channels.set(name, channel)
  }
  return channelsOf(channels)
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
