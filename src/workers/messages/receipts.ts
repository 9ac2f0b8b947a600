import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '../../core/interface/refusal.ts'
import { withoutRecipient } from '../../core/message/messageTries.ts'
import { type Receipt, sanitizeReceipt } from '../../core/message/messenger.ts'
import { createBatcher } from '../../runtime/batcher.ts'
import type { Db } from '../../store/db.ts'
import { findSentMessages, type MessageReceipt, saveReceipts } from '../../store/messages/sending.ts'

const windowMs = 7 * 24 * 3_600_000 // networks stop trying to deliver a message long before
const maxRows = 100
const maxWaiting = 2000
const defaultPausesMs = [250, 500, 1000, 2000, 4000, 8000]

export type ReceiptOptions = {
  db: Db
  clock(): Date
  observe?(receipt: Pick<Receipt, 'state'>): void // of a known message
  onTrouble(error: unknown): void
  pauses?: readonly number[]
}
type Receipts = { receive(receipt: Receipt): void; settled(): Promise<void>; stop(): Promise<void> }

// Saves the delivery receipts of the network. A receipt may arrive before the result of its message is saved, so an
// unknown reference is looked up again for some seconds. After that the receipt is discarded.
export function createReceipts(options: ReceiptOptions): Receipts {
  const { db, clock, observe, onTrouble, pauses = defaultPausesMs } = options
  const inFlight = new Set<Promise<void>>()
  const stopping = new AbortController()
  setMaxListeners(maxWaiting, stopping.signal) // one for each waiting receipt
  const lookups = createBatcher<Receipt, boolean>({
    run: receipts => saveKnown(db, receipts, clock()),
    maxRows,
    maxInFlight: 1,
    maxQueued: maxWaiting,
  })

  async function saveWithRetries(receipt: Receipt) {
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

  const settled = async () => void (await Promise.all(inFlight))
  return {
    receive(untrusted) {
      const receipt = sanitizeReceipt(untrusted)
      if (!receipt || inFlight.size >= maxWaiting || stopping.signal.aborted) return // receipts are not essential
      const saved = saveWithRetries(receipt).catch(onTrouble)
      inFlight.add(saved)
      void saved.then(() => inFlight.delete(saved))
    },
    settled,
    async stop() {
      stopping.abort()
      await settled()
    },
  }
}

// Returns for each receipt whether its message is known.
async function saveKnown(db: Db, receipts: readonly Receipt[], now: Date): Promise<boolean[]> {
  const refs = [...new Set(receipts.map(({ provider_ref }) => provider_ref))]
  const sent = await findSentMessages(db, refs, new Date(now.getTime() - windowMs))
  const messages = new Map(sent.map(message => [message.provider_ref, message]))
  const toSave = new Map<string, MessageReceipt>()
  for (const { provider_ref, state, reason } of receipts) {
    const message = messages.get(provider_ref)
    if (!message || toSave.get(provider_ref)?.state === 'delivered') continue
    const { merchant_id, message_id, recipient } = message
    const words = state === 'delivered' ? '' : `Lost: ${withoutRecipient(recipient, reason)}`
    toSave.set(provider_ref, { merchant_id, message_id, state, words })
  }
  if (toSave.size > 0) await saveReceipts(db, [...toSave.values()], now)
  return receipts.map(({ provider_ref }) => messages.has(provider_ref))
}
