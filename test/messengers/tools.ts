import { setTimeout as sleep } from 'node:timers/promises'
import type {
  Messenger,
  MessengerSettings,
  MessengerTools,
  OutboundMessage,
  Receipt,
} from '../../src/core/message/messenger.ts'

export type TestTools = MessengerTools & { receipts: Receipt[]; warnings: string[] }

export function newTools(): TestTools {
  const receipts: Receipt[] = []
  const warnings: string[] = []
  return {
    receipts,
    warnings,
    receive: receipt => void receipts.push(receipt),
    warn: text => void warnings.push(text),
  }
}

type TestedModule<Settings, Limits extends unknown[]> = {
  readSettings(environment: MessengerSettings, tools: MessengerTools): Settings | undefined
  open(settings: Settings, tools: MessengerTools, ...limits: Limits): Messenger
}

// Opens a messenger like the gateway does: undefined if its settings are not set.
export function openMessenger<Settings, Limits extends unknown[]>(
  { readSettings, open }: TestedModule<Settings, Limits>,
  environment: MessengerSettings,
  tools: MessengerTools,
  ...limits: Limits
): Messenger | undefined {
  const settings = readSettings(environment, tools)
  return settings && open(settings, tools, ...limits)
}

let count = 0

export const newMessage = (changes: Partial<OutboundMessage> = {}): OutboundMessage => ({
  id: `msg_${++count}`,
  to: 'ama@example.com',
  text: 'You paid 25.00 GHS to Kofi’s Shop.',
  subject: 'Your payment of 25.00 GHS',
  html: '<p>You paid <b>25.00 GHS</b> to Kofi’s Shop.</p>',
  ...changes,
})

export async function until(happened: () => boolean, maxMs = 10_000) {
  for (const deadline = performance.now() + maxMs; performance.now() < deadline; await sleep(10))
    if (happened()) return
  throw new Error('it never happened')
}
