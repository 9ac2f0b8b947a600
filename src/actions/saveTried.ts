import { paymentKey } from '../core/choose.ts'
import { type Batcher, createBatcher } from '../store/batch.ts'
import type { Db, Tx } from '../store/db.ts'
import { saveOutcomes } from '../store/deliveries.ts'
import { addTries } from '../store/tries.ts'
import { queueExhaustedNotice } from './queueMessages.ts'
import type { Tried } from './sendTry.ts'

const maxInOneCommit = 256
const maxQueued = 5000

// Writes down what came of tries: one commit for all that ended while the last commit was on its way. What is lost here
// is sent once more, with the same id and bytes.
export const createTriedLog = (db: Db): Batcher<Tried, void> =>
  createBatcher({
    run: async tried => {
      await db.transaction(tx => save(tx, tried))
      return tried.map(() => undefined)
    },
    maxRows: maxInOneCommit,
    maxInFlight: 1,
    maxQueued,
  })

async function save(tx: Tx, tried: readonly Tried[]) {
  await addTries(
    tx,
    tried.map(one => one.log),
  )
  const saved = await saveOutcomes(
    tx,
    tried.map(one => one.outcome),
  )
  const exhausted = tried.filter(({ outcome }) => outcome.exhausted_at)
  if (exhausted.length === 0) return
  const ours = new Set(saved.map(paymentKey))
  for (const { outcome, mode, contact_email } of exhausted)
    if (contact_email && outcome.exhausted_at && ours.has(paymentKey(outcome)))
      await queueExhaustedNotice(tx, outcome.merchant_id, mode, contact_email, outcome.exhausted_at)
}
