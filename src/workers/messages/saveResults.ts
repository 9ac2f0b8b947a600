import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '../../core/interface/refusal.ts'
import { createBatcher } from '../../runtime/batcher.ts'
import type { Db } from '../../store/db.ts'
import { type MessageResult, saveMessageResults } from '../../store/messages/sending.ts'

const maxRows = 100
const retryForMs = 60_000
const pauseMs = 500

type InTurn = <T>(task: () => Promise<T>) => Promise<T>

// Saves the results of messages, many in one statement.
export function createResultsLog(db: Db, inTurn: InTurn) {
  let isStopping = false
  const batcher = createBatcher<MessageResult, boolean>({
    run: results => inTurn(() => saveAll(db, results)),
    maxRows,
    maxInFlight: 1,
    maxQueued: maxRows,
  })
  return {
    // Retried for a while, because a message without a saved result is sent again. A result that the database refuses is
    // saved without the texts of the provider. False if the lease was lost.
    async save(result: MessageResult): Promise<boolean> {
      const until = performance.now() + retryForMs
      for (let isBare = false; ; ) {
        try {
          return await batcher.add(isBare ? withoutTexts(result) : result)
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

const withoutTexts = (result: MessageResult): MessageResult => ({ ...result, words: '', provider_ref: null })

const nameOf = (key: { merchant_id: string; message_id: string }) => `${key.merchant_id} ${key.message_id}`

async function saveAll(db: Db, results: MessageResult[]): Promise<boolean[]> {
  const saved = new Set((await saveMessageResults(db, results)).map(nameOf))
  return results.map(result => saved.has(nameOf(result)))
}
