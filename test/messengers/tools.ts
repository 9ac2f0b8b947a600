import { setTimeout as sleep } from 'node:timers/promises'
import type { OutboundMessage, MessengerTools, Receipt } from '../../src/core/message/messenger.ts'

export type TestTools = MessengerTools & { receipts: Receipt[]; warnings: string[] }

export function newTools(): TestTools {
  const receipts: Receipt[] = []
  const warnings: string[] = []
  return {
    receipts,
    warnings,
    receive: receipt => void receipts.push(receipt),
    warn: words => void warnings.push(words),
  }
}

let count = 0

export const newLetter = (changes: Partial<OutboundMessage> = {}): OutboundMessage => ({
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
