import type { MinuteCounts } from '../core/operator/minuteCounts.ts'
import { newLeaseToken } from '../runtime/ids.ts'
import type { MinuteTally } from '../runtime/minuteTally.ts'
import type { Db } from '../store/db.ts'
import { deleteMinutesBefore, saveNodeMinutes } from '../store/installation/nodeMinutes.ts'
import type { Heartbeats } from '../runtime/heartbeats.ts'
import { type Loop, startLoop } from './loop.ts'

const restMs = 1000
const retentionMs = 8 * 24 * 3_600_000
const deleteEveryMs = 3_600_000

type NodeMinutesOptions = {
  db: Db
  clock(): Date
  tally: MinuteTally
  // The payment requests that were answered since the last call. Undefined if there was none.
  readRequests(): Promise<Pick<MinuteCounts, 'delays' | 'refused'> | undefined>
  trouble(error: unknown): void
  heartbeats?: Heartbeats
}

// Stores the counts of this node for the live view. Without traffic nothing is written.
export function startNodeMinutes(options: NodeMinutesOptions): Loop {
  const { db, clock, tally, readRequests, trouble, heartbeats } = options
  const own = db.withQuota('health')
  const node = newLeaseToken()
  let deleteAt = 0
  return startLoop({
    restMs,
    async step() {
      const requests = await readRequests()
      if (requests) tally.answered(requests)
      const taken = tally.take()
      if (taken.length === 0) return
      try {
        const rows = taken.map(({ minute, started, counts }) => ({
          minute,
          started_live: started.live,
          started_test: started.test,
          counts,
        }))
        await saveNodeMinutes(own, node, rows)
      } catch (error) {
        tally.giveBack(taken)
        throw error
      }
      if (performance.now() < deleteAt) return
      deleteAt = performance.now() + deleteEveryMs
      await deleteMinutesBefore(own, new Date(clock().getTime() - retentionMs))
    },
    onTrouble: trouble,
    heartbeat: heartbeats?.of('nodeMinutes'),
  })
}
