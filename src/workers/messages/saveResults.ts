import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '../../core/interface/refusal.ts'
import { createBatcher } from '../../runtime/batcher.ts'
import type { Db } from '../../store/db.ts'
import { type MessageResult, saveMessageResults } from '../../store/messages/messages.ts'

const rowsAtOnce = 100
const writeForMs = 60_000
const pauseMs = 500

type InTurn = <T>(work: () => Promise<T>) => Promise<T>

// Writes down what came of messages, all that have ended meanwhile in one statement.
export function createResultsLog(db: Db, inTurn: InTurn) {
  let isStopping = false
  const waiting = createBatcher<MessageResult, boolean>({
    run: results => inTurn(() => saveAll(db, results)),
    maxRows: rowsAtOnce,
    maxInFlight: 1,
    maxQueued: rowsAtOnce,
  })
  return {
    // The message has left, so this has some patience: what is not written down is sent again. What the database does
    // not take as it is is written down without what others said. False when it was not ours any more.
    async save(result: MessageResult): Promise<boolean> {
      const until = performance.now() + writeForMs
      for (let isBare = false; ; ) {
        try {
          return await waiting.add(isBare ? bare(result) : result)
        } catch (error) {
          const isOver = isStopping || performance.now() > until
          const isRefused = !(error instanceof Unavailable)
          if (isRefused ? isBare : isOver) throw error
          if (isRefused) isBare = true
          else await sleep(pauseMs)
        }
      }
    },
    stop: () => void (isStopping = true),
  }
}

const bare = (result: MessageResult): MessageResult => ({ ...result, words: '', provider_ref: null })

const nameOf = (key: { merchant_id: string; message_id: string }) => `${key.merchant_id} ${key.message_id}`

async function saveAll(db: Db, results: MessageResult[]): Promise<boolean[]> {
  const saved = new Set((await saveMessageResults(db, results)).map(nameOf))
  return results.map(result => saved.has(nameOf(result)))
}
