import { notificationId } from '../core/notification.ts'
import { type Batcher, createBatcher } from '../store/batch.ts'
import type { Db, Tx } from '../store/db.ts'
import { exhaustedOf, saveAcknowledged, saveOutcomes } from '../store/outcomes.ts'
import { addTries, moveLastTries } from '../store/tries.ts'
import { queueExhaustedNotice } from './queueMessages.ts'
import type { Tried } from './sendTry.ts'

const maxInOneCommit = 256
const maxQueued = 5000

// Writes down what came of tries: one commit for all that ended while the last commit was on its way. What is lost here
// is sent once more, with the same id and bytes.
export const createTriedLog = (db: Db): Batcher<Tried, void> =>
  createBatcher({
    run: async tried => {
      const plain = tried.filter(isPlain)
      const others = plain.length < tried.length ? tried.filter(one => !isPlain(one)) : []
      if (plain.length > 0) await savePlain(db, plain)
      if (others.length > 0) await db.transaction(tx => saveOthers(tx, others))
      return tried.map(() => undefined)
    },
    maxRows: maxInOneCommit,
    maxInFlight: 1,
    maxQueued,
  })

// Most are: then there is one statement, which is its own commit.
const isPlain = ({ outcome }: Tried) => outcome.try === 1 && outcome.acknowledged_at !== null

async function savePlain(tx: Tx, tried: readonly Tried[]) {
  const outcomes = tried.map(one => one.outcome)
  if ((await saveAcknowledged(tx, outcomes)) < outcomes.length) await addTries(tx, outcomes)
}

async function saveOthers(tx: Tx, tried: readonly Tried[]) {
  const outcomes = tried.map(one => one.outcome)
  const again = outcomes.filter(outcome => outcome.try > 1)
  if (again.length > 0) await moveLastTries(tx, again)
  if ((await saveOutcomes(tx, outcomes)) < outcomes.length) await addTries(tx, outcomes)
  const exhausted = tried.filter(({ outcome, contact_email }) => outcome.exhausted_at && contact_email)
  if (exhausted.length === 0) return
  const ended = await exhaustedOf(
    tx,
    exhausted.map(one => one.outcome),
  )
  const isEnded = new Set(ended.map(notificationId))
  for (const { outcome, mode, contact_email } of exhausted)
    if (outcome.exhausted_at && contact_email && isEnded.has(notificationId(outcome)))
      await queueExhaustedNotice(tx, outcome.merchant_id, mode, contact_email, outcome.exhausted_at)
}
