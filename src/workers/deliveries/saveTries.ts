import { setTimeout as sleep } from 'node:timers/promises'
import { queueExhaustedNotice } from '../../actions/messages/queueMessages.ts'
import { Locked } from '../../core/interface/refusal.ts'
import { notificationId } from '../../core/notification/notification.ts'
import { createBatcher } from '../../runtime/batcher.ts'
import type { Db, Tx } from '../../store/db.ts'
import {
  exhaustedOf,
  saveAcknowledged,
  saveAcknowledgedOptimistically,
  saveOutcomes,
} from '../../store/notifications/outcomes.ts'
import { addTries, moveLastTries } from '../../store/notifications/tries.ts'
import { amongUnlocked } from '../../store/notifications/unlockedDeliveries.ts'
import { takeOptimistically, takeUnlocked } from '../../store/skipLocked.ts'
import type { Tried } from './sendTry.ts'

const maxInOneCommit = 256
const maxQueued = 5000
const firstWaitMs = 5 // most rows are held for a moment, by another worker that takes a sibling
const longestWaitMs = 500
const heldForMs = 10_000 // by then whoever holds a row has been cut off, and the lease of the try is almost over

export type TriesLog = { add(tried: Tried): Promise<void> }

// Writes down what came of tries: one commit for all that ended while the last commit was on its way. What is lost here
// is sent once more, with the same id and bytes. A row that somebody else holds keeps nobody else's result waiting.
export function createTriesLog(db: Db): TriesLog {
  const batches = createBatcher<Tried, boolean>({
    run: async tried => {
      const plain = tried.filter(isPlain)
      const others = plain.length < tried.length ? tried.filter(one => !isPlain(one)) : []
      const saved = new Set<Tried>()
      if (plain.length > 0) for (const one of await savePlain(db, plain)) saved.add(one)
      if (others.length > 0) for (const one of await saveOthers(db, others)) saved.add(one)
      return tried.map(one => saved.has(one))
    },
    maxRows: maxInOneCommit,
    maxInFlight: 1,
    maxQueued,
  })
  return {
    async add(tried) {
      const until = performance.now() + heldForMs
      for (
        let waitMs = firstWaitMs;
        !(await batches.add(tried));
        waitMs = Math.min(waitMs * 2, longestWaitMs)
      ) {
        if (performance.now() > until) throw new Locked('somebody holds the delivery for too long')
        await sleep(waitMs)
      }
    },
  }
}

// Most are: then there is one statement, which is its own commit.
const isPlain = ({ outcome }: Tried) =>
  outcome.try === 1 && outcome.acknowledged_at !== null && outcome.words === ''

const savePlain = (db: Db, tried: readonly Tried[]) =>
  takeOptimistically(db, {
    optimistic: tx => savePlainBy(tx, saveAcknowledgedOptimistically, tried),
    ...amongUnlocked(tried, outcomeOf, (tx, some) => savePlainBy(tx, saveAcknowledged, some)),
  })

async function savePlainBy(
  tx: Tx,
  save: typeof saveAcknowledged,
  tried: readonly Tried[],
): Promise<readonly Tried[]> {
  const outcomes = tried.map(one => one.outcome)
  if ((await save(tx, outcomes)) < outcomes.length) await addTries(tx, outcomes)
  return tried
}

const saveOthers = (db: Db, tried: readonly Tried[]) =>
  takeUnlocked(db, amongUnlocked(tried, outcomeOf, saveOthersIn))

const outcomeOf = ({ outcome }: Tried) => outcome

async function saveOthersIn(tx: Tx, tried: readonly Tried[]): Promise<readonly Tried[]> {
  const outcomes = tried.map(one => one.outcome)
  const again = outcomes.filter(outcome => outcome.try > 1)
  if (again.length > 0) await moveLastTries(tx, again)
  if ((await saveOutcomes(tx, outcomes)) < outcomes.length) await addTries(tx, outcomes)
  const exhausted = tried.filter(({ outcome, contact_email }) => outcome.exhausted_at && contact_email)
  if (exhausted.length === 0) return tried
  const ended = await exhaustedOf(
    tx,
    exhausted.map(one => one.outcome),
  )
  const isEnded = new Set(ended.map(notificationId))
  for (const { outcome, mode, contact_email } of exhausted)
    if (outcome.exhausted_at && contact_email && isEnded.has(notificationId(outcome)))
      await queueExhaustedNotice(tx, outcome.merchant_id, mode, contact_email, outcome.exhausted_at)
  return tried
}
