import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '../core/refusal.ts'
import { createBatcher } from '../store/batch.ts'
import type { Db } from '../store/db.ts'
import { type MessageResult, saveMessageResults } from '../store/messages.ts'

const rowsAtOnce = 100
const writeForMs = 60_000
const pauseMs = 500

type InTurn = <T>(work: () => Promise<T>) => Promise<T>

// Writes down what came of messages, all that have ended meanwhile in one statement.
export function createMessageResults(db: Db, inTurn: InTurn) {
  let isStopping = false
  const waiting = createBatcher<MessageResult, boolean>({
    run: results => inTurn(() => saveAll(db, results)),
    maxRows: rowsAtOnce,
    maxInFlight: 1,
    maxQueued: rowsAtOnce,
  })
  return {
    // The message has left, so this has some patience: what is not written down is sent again. False when it was not
    // ours any more.
    async save(result: MessageResult): Promise<boolean> {
      const until = performance.now() + writeForMs
      for (;;) {
        try {
          return await waiting.add(result)
        } catch (error) {
          if (!(error instanceof Unavailable) || isStopping || performance.now() > until) throw error
          await sleep(pauseMs)
        }
      }
    },
    stop: () => void (isStopping = true),
  }
}

const nameOf = (key: { merchant_id: string; message_id: string }) => `${key.merchant_id} ${key.message_id}`

async function saveAll(db: Db, results: MessageResult[]): Promise<boolean[]> {
  const saved = new Set((await saveMessageResults(db, results)).map(nameOf))
  return results.map(result => saved.has(nameOf(result)))
}
