import type {
  Channel,
  ChannelKind,
  ChannelSettings,
  ChannelTools,
} from '../../../src/core/channel/channel.ts'
import type { Order } from '../../../src/core/channel/order.ts'
import type { Reply } from '../../../src/core/channel/reply.ts'
import type { Way } from '../../../src/core/channel/way.ts'
import type { Webhook } from '../../../src/core/channel/webhook.ts'
import { type GuardedChannel, guardChannel } from '../../../src/runtime/channels/guard.ts'
import { type Timer, timerOf } from '../../../src/runtime/deadline.ts'
import type { Line } from '../line.ts'
import { anOrder } from '../order.ts'

// A provider, lines to it that can misbehave, and a customer. What is optional, a channel may have no use for.
export type Bench = {
  newLine(): Promise<Line>
  settings(url: string): ChannelSettings // that make the channel speak to this address
  given(way: Way): Record<string, string> // by a customer who will decide in person
  told?: Partial<Order> // what else an order must tell
  approve(order: Order): Promise<unknown>
  decline(order: Order): Promise<unknown>
  charges(order: Order): Promise<number> // in the provider's books, by the order's key
  oddWord(text: string): string // the provider's answer, with a status that nobody knows
  otherAmount(text: string, amount: string): string
  otherOrder(text: string): string // the provider's answer about another order
  expireTokens?(): Promise<unknown> // those that the provider has given are refused from now on
  steps?: StepBench
  webhook?(order: Order, account?: 'another'): Webhook // about the order, signed by this account or another
  wrongSettings?: readonly { settings: ChannelSettings; words: RegExp }[] // and what `test` says of them
  stop(): Promise<void>
}

// An order that asks for a step, for the ways that can, and what a customer then types.
export type StepBench = {
  given(way: Way): Record<string, string> | undefined
  wrong: Record<string, string>
  right: Record<string, string>
}

export type Connected = {
  line: Line
  raw: Channel
  channel: GuardedChannel // as the house uses it
  order(way: Way, changes?: Partial<Order>): Order
}

export type Stage = {
  name: string
  kind: ChannelKind
  settings: ChannelSettings // that make a channel
  ways: readonly Way[]
  bench(): Bench
  connect(wrong?: ChannelSettings, timer?: (line: Line) => Timer): Promise<Connected>
  said: string[] // all that the channel has answered or thrown, on every line
  stop(): Promise<void> // of the lines
}

export const tools: ChannelTools = {
  egress: {},
  clock: () => new Date(),
  token: async (make, signal) => (await make(signal)).token,
}

export function stageOf(
  name: string,
  kind: ChannelKind,
  settings: ChannelSettings,
  bench: () => Bench,
): Stage {
  const said: string[] = []
  const lines: Line[] = []
  const { ways } = kind.open(settings, tools)
  // Each test has a line of its own, so that those that wait wait side by side.
  async function connect(
    wrong: ChannelSettings = {},
    timer: (line: Line) => Timer = patient,
  ): Promise<Connected> {
    const line = await bench().newLine()
    lines.push(line)
    const raw = recorded(kind.open({ ...bench().settings(line.url), ...wrong }, tools), said)
    const channel = guardChannel(raw, timer(line))
    const order = (way: Way, changes: Partial<Order> = {}) => {
      const plain = newOrder(way, bench().given(way), { ...bench().told, ...changes })
      return { ...plain, key: channel.newKey(plain.attempt_id) ?? plain.attempt_id }
    }
    return { line, raw, channel, order }
  }
  const stop = async () => void (await Promise.all(lines.map(line => line.stop())))
  return { name, kind, settings, ways, bench, connect, said, stop }
}

// Nothing here is found out by waiting for a deadline, and a slow machine meets none.
const patient = (): Timer => timerOf(50_000)

// What it says is kept, to be searched for what is private.
function recorded(channel: Channel, said: string[]): Channel {
  const keep = async <T>(work: Promise<T>): Promise<T> => {
    try {
      const told = await work
      said.push(
        JSON.stringify(told, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
      )
      return told
    } catch (error) {
      said.push(error instanceof Error ? `${error.stack} ${String(error.cause)}` : String(error))
      throw error
    }
  }
  const { start, check, submit, giveUp, test } = channel
  type Ask = (order: Order, signal: AbortSignal) => Promise<Reply>
  const kept =
    (ask: Ask): Ask =>
    (order, signal) =>
      keep(ask(order, signal))
  return {
    ...channel,
    start: kept(start),
    check: kept(check),
    ...(giveUp && { giveUp: kept(giveUp) }),
    ...(submit && { submit: (order, step, typed, signal) => keep(submit(order, step, typed, signal)) }),
    ...(test && { test: signal => keep(test(signal)) }),
  }
}

export const newOrder = (way: Way, given: Record<string, string>, changes: Partial<Order> = {}): Order =>
  anOrder(way.payment_method, { given, ...changes })
