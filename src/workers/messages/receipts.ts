import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '../../core/interface/refusal.ts'
import { wordsWithout } from '../../core/message/messageTries.ts'
import type { Receipt } from '../../core/message/messenger.ts'
import { sanitizeReceipt } from '../../core/message/sanitizeMessenger.ts'
import { createBatcher } from '../../runtime/batcher.ts'
import type { Db } from '../../store/db.ts'
import { findSent, type MessageReceipt, saveReceipts } from '../../store/messages/messageReceipts.ts'

const windowMs = 7 * 24 * 3_600_000 // networks give up on a message long before
const rowsAtOnce = 100
const maxWaiting = 2000
const pausesMs = [250, 500, 1000, 2000, 4000, 8000]

export type ReceiptOptions = {
  db: Db
  clock(): Date
  observe?(receipt: Pick<Receipt, 'state'>): void // of a message that we know
  onTrouble(error: unknown): void
  pauses?: readonly number[]
}
export type Receipts = { receive(receipt: Receipt): void; settled(): Promise<void>; stop(): Promise<void> }

// The network tells what became of a message. It may be faster than the note that the message was sent, so a reference
// that we do not know yet is looked for again, for some seconds; after that it is nobody's.
export function createReceipts({
  db,
  clock,
  observe,
  onTrouble,
  pauses = pausesMs,
}: ReceiptOptions): Receipts {
  const hearing = new Set<Promise<void>>()
  const stopping = new AbortController()
  setMaxListeners(maxWaiting, stopping.signal) // each that waits listens for the end
  const lookups = createBatcher<Receipt, boolean>({
    run: receipts => hearReceipts(db, receipts, clock()),
    maxRows: rowsAtOnce,
    maxInFlight: 1,
    maxQueued: maxWaiting,
  })

  async function hear(receipt: Receipt) {
    for (const pauseMs of [...pauses, undefined]) {
      const isKnown = await lookups.add(receipt).catch((error: unknown) => {
        if (!(error instanceof Unavailable)) throw error
        return false
      })
      if (isKnown) return observe?.({ state: receipt.state })
      if (pauseMs === undefined || stopping.signal.aborted) return
      await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  const settled = async () => void (await Promise.all(hearing))
  return {
    receive(told) {
      const receipt = sanitizeReceipt(told)
      if (!receipt || hearing.size >= maxWaiting || stopping.signal.aborted) return // it would only be good to know
      const heard = hear(receipt).catch(onTrouble)
      hearing.add(heard)
      void heard.then(() => hearing.delete(heard))
    },
    settled,
    async stop() {
      stopping.abort()
      await settled()
    },
  }
}

// Gives back which of them are ours.
async function hearReceipts(db: Db, receipts: readonly Receipt[], now: Date): Promise<boolean[]> {
  const refs = [...new Set(receipts.map(({ provider_ref }) => provider_ref))]
  const sent = await findSent(db, refs, new Date(now.getTime() - windowMs))
  const newest = new Map(sent.map(message => [message.provider_ref, message]))
  const heard = new Map<string, MessageReceipt>()
  for (const { provider_ref, state, words } of receipts) {
    const message = newest.get(provider_ref)
    if (!message || heard.get(provider_ref)?.state === 'delivered') continue
    const { merchant_id, message_id, recipient } = message
    const kept = state === 'delivered' ? '' : `Lost: ${wordsWithout(recipient, words)}`
    heard.set(provider_ref, { merchant_id, message_id, state, words: kept })
  }
  if (heard.size > 0) await saveReceipts(db, [...heard.values()], now)
  return receipts.map(({ provider_ref }) => newest.has(provider_ref))
}
