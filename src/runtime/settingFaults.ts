import { readdirSync } from 'node:fs'
import type { ChannelSettings, MakeChannel } from '../core/channel/channel.ts'
import type { MessengerSettings, ReadMessengerSettings } from '../core/message/messenger.ts'

const channels = new URL('../channels/', import.meta.url)
const messengers = new URL('../messengers/', import.meta.url)

// What is wrong with the settings that channels read. A channel speaks only when it is used: making one opens nothing.
export async function channelFaults(settings: ChannelSettings, folder = channels): Promise<string[]> {
  const faults: string[] = []
  for (const { default: make } of await filesIn<{ default: MakeChannel }>(folder))
    faults.push(...faultsOf(() => make(settings)))
  return faults
}

// The same of messengers, and what an operator should hear about settings that are right. Nothing is connected.
export async function messengerFaults(settings: MessengerSettings, folder = messengers) {
  const [faults, warnings]: [string[], string[]] = [[], []]
  const tools = { warn: (words: string) => void warnings.push(words), receive: () => {} }
  for (const { readSettings } of await filesIn<{ readSettings?: ReadMessengerSettings }>(folder))
    faults.push(...faultsOf(() => readSettings?.(settings, tools)))
  return { faults, warnings }
}

function faultsOf(read: () => unknown): string[] {
  try {
    read()
    return []
  } catch (error) {
    return faultsIn(error)
  }
}

export const faultsIn = (error: unknown): string[] =>
  error instanceof AggregateError
    ? error.errors.flatMap(faultsIn)
    : [error instanceof Error ? error.message : String(error)]

const filesIn = <File>(folder: URL): Promise<File[]> =>
  Promise.all(
    readdirSync(folder)
      .filter(file => /^\w+\.[jt]s$/.test(file))
      .sort()
      .map(file => import(new URL(file, folder).href) as Promise<File>),
  )
