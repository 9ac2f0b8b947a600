import { type Candidate, hasRoom, laneKey, type Traffic } from '../core/choose.ts'
import { tryAnyway } from '../core/schedule.ts'
import type { Db } from '../store/db.ts'
import { holdDeliveries, lanesWithHeld, releaseDeliveries } from '../store/heldDeliveries.ts'

const releasedAtOnce = 32
const lanesAtOnce = 4 // those that are due now wait meanwhile
const sweepMs = 5000

type LaneName = Pick<Candidate, 'merchant_id' | 'lane'>

// Deliveries that wait behind their own lane. They are out of sight while it is closed or full, and come back into
// sight as it has room; those that another process put away are found by a sweep.
export function createLaneQueues(db: Db, traffic: Traffic) {
  const waiting = new Map<string, LaneName>()
  let sweptAt = -Infinity

  // Those of a lane or a merchant that can have no more now. Of each merchant twice as many as are in flight stay in
  // sight, so that no slot stays empty: together a small part of what a look sees.
  function crowdIn(wait: readonly Candidate[], now: Date): Candidate[] {
    const seen = new Map<string, number>()
    return wait.filter(candidate => {
      if (hasRoom(candidate, traffic, now)) return false
      const { merchant_id } = candidate
      const before = seen.get(merchant_id) ?? 0
      seen.set(merchant_id, before + 1)
      return before >= 2 * (traffic.merchants.get(merchant_id) ?? 0)
    })
  }

  async function hold(candidates: readonly Candidate[], now: Date) {
    if (candidates.length === 0) return
    const held = candidates.map(({ merchant_id, tx_reference, sequence, begun_at, last_try_at }) => ({
      merchant_id,
      tx_reference,
      sequence,
      until: laterOf(tryAnyway(begun_at, last_try_at), now),
    }))
    await holdDeliveries(db, held, now)
    for (const { merchant_id, lane } of candidates)
      waiting.set(laneKey({ merchant_id, lane }), { merchant_id, lane })
  }

  // Those that have room, and nothing in sight that could fill it.
  function lanesToRelease(inSight: readonly Candidate[], now: Date): LaneName[] {
    if (waiting.size === 0) return []
    const busy = new Set(inSight.map(laneKey))
    const seen = new Map<string, number>() // of each merchant
    for (const { merchant_id } of inSight) seen.set(merchant_id, (seen.get(merchant_id) ?? 0) + 1)
    const lanes: LaneName[] = []
    for (const [key, lane] of waiting) {
      if (lanes.length === lanesAtOnce) break
      const isEnough = busy.has(key) || (seen.get(lane.merchant_id) ?? 0) >= releasedAtOnce
      if (!isEnough && hasRoom(lane, traffic, now)) lanes.push(lane)
    }
    return lanes
  }

  // True when some came into sight.
  async function release(lanes: readonly LaneName[], now: Date): Promise<boolean> {
    let released = 0
    for (const { merchant_id, lane } of lanes) {
      const key = laneKey({ merchant_id, lane })
      const most = traffic.lanes.get(key)?.openUntil == null ? releasedAtOnce : 1
      const count = await releaseDeliveries(db, merchant_id, lane, now, most)
      if (count < most) waiting.delete(key)
      released += count
    }
    return released > 0
  }

  async function sweep() {
    if (performance.now() - sweptAt < sweepMs) return
    sweptAt = performance.now()
    for (const lane of await lanesWithHeld(db)) waiting.set(laneKey(lane), lane)
  }

  return { crowdIn, hold, lanesToRelease, release, sweep }
}

// Held for at least a moment: it was just found not to have room.
const laterOf = (date: Date, now: Date) => new Date(Math.max(date.getTime(), now.getTime() + 1000))
