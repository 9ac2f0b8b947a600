import { type Candidate, laneKey, type Traffic } from '../core/choose.ts'
import { newLane, roomIn } from '../core/lane.ts'
import { tryAnyway } from '../core/schedule.ts'
import type { Db } from '../store/db.ts'
import { holdDeliveries, lanesWithHeld, releaseDeliveries } from '../store/heldDeliveries.ts'

const keptInSight = 16 // of each full lane, so that its slots never stay empty
const releasedAtOnce = 32
const lanesAtOnce = 20
const sweepMs = 5000

type LaneName = Pick<Candidate, 'merchant_id' | 'lane'>

// Deliveries that wait behind their own lane. They are out of sight while it is closed or full, and come back into
// sight as it has room; those that another process put away are found by a sweep.
export function createLaneQueues(db: Db, traffic: Traffic) {
  const waiting = new Map<string, LaneName>()
  let sweptAt = -Infinity

  const room = (lane: LaneName, now: Date) =>
    roomIn(traffic.lanes.get(laneKey(lane)) ?? newLane(), now.getTime())

  // Those of a full lane beyond the first few.
  function crowdIn(wait: readonly Candidate[], now: Date): Candidate[] {
    const seen = new Map<string, number>()
    return wait.filter(candidate => {
      const key = laneKey(candidate)
      const before = seen.get(key) ?? 0
      seen.set(key, before + 1)
      return before >= keptInSight && room(candidate, now) <= 0
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

  // True when some came into sight.
  async function release(inSight: readonly Candidate[], now: Date): Promise<boolean> {
    await sweep()
    const busy = new Set(inSight.map(laneKey))
    const ready = [...waiting].filter(([key, lane]) => !busy.has(key) && room(lane, now) > 0)
    let released = 0
    for (const [key, lane] of ready.slice(0, lanesAtOnce)) {
      const most = traffic.lanes.get(key)?.openUntil == null ? releasedAtOnce : 1
      const count = await releaseDeliveries(db, lane.merchant_id, lane.lane, now, most)
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

  return { crowdIn, hold, release }
}

// Held for at least a moment: it was just found not to have room.
const laterOf = (date: Date, now: Date) => new Date(Math.max(date.getTime(), now.getTime() + 1000))
