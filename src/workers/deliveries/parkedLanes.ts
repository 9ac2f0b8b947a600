import {
  type Candidate,
  deliveryKey,
  hasRoom,
  laneKey,
  rankKey,
  type Traffic,
} from '../../core/notification/admit.ts'
import { tryAnyway } from '../../core/notification/schedule.ts'
import type { Db } from '../../store/db.ts'
import {
  parkDeliveries,
  lanesWithParked,
  moveParked,
  releaseDeliveries,
  releaseProbe,
} from '../../store/notifications/parkedDeliveries.ts'
import type { Promoted } from './acknowledgedPaths.ts'
import type { DueList } from './dueList.ts'

const releasedAtOnce = 32
const lanesAtOnce = 4
const movedAtOnce = 1000
const manyLeaving = 100
const holdMs = 100 // fewer than that wait so long for others
const sweepMs = 5000

type LaneName = Pick<Candidate, 'merchant_id' | 'lane'>

export type ParkedLaneOptions = {
  db: Db
  traffic: Traffic
  dueList: DueList
  clock(): Date
  wake(): void
  trouble(error: unknown): void
}

// Deliveries that wait behind their own lane. They are off the list while it is closed or full, and come back to
// it as it has room; those that another process holds are found by a sweep. All this is written beside the steps
// of the dispatcher: those that can leave do not wait for it.
export function createParkedLanes({ db, traffic, dueList, clock, wake, trouble }: ParkedLaneOptions) {
  const waiting = traffic.parked
  const leaving = new Map<string, Candidate>() // held, and not written down yet
  const promoted: Promoted[] = [] // their deliveries wait in a lane that is not theirs any more
  let flushing: Promise<void> | undefined
  let heldAt = -Infinity
  let sweptAt = -Infinity

  // Those of a lane or a merchant that can have no more now. Of each merchant twice as many as are in flight stay
  // listed, so that no slot stays empty: together a small part of what a look sees.
  function overflowOf(wait: readonly Candidate[], now: Date): Candidate[] {
    const seen = new Map<string, number>()
    return wait.filter(candidate => {
      if (dueList.isFresh(candidate) || hasRoom(candidate, traffic, now)) return false
      const { merchant_id } = candidate
      const before = seen.get(merchant_id) ?? 0
      seen.set(merchant_id, before + 1)
      return before >= 2 * (traffic.merchants.get(merchant_id) ?? 0)
    })
  }

  function hold(candidates: readonly Candidate[]) {
    for (const candidate of candidates) leaving.set(deliveryKey(candidate), candidate)
  }

  const isTimeToSweep = () => since(sweptAt) >= sweepMs
  const isTimeToHold = () => leaving.size >= manyLeaving || (leaving.size > 0 && since(heldAt) >= holdMs)

  function flush() {
    if (flushing) return
    if (isTimeToSweep() || isTimeToHold() || promoted.length > 0 || lanesToRelease(clock()).length > 0)
      flushing = work()
  }

  async function flushed() {
    await flushing
    if (leaving.size > 0 || promoted.length > 0) flushing ??= work()
    await flushing
  }

  // In a crowd there are others to see now.
  async function work() {
    try {
      if (isTimeToSweep()) await sweep()
      const isHeld = leaving.size > 0 && dueList.hasMore()
      if (leaving.size > 0) await writeHeld(clock())
      if (promoted.length > 0) await movePromoted()
      const isReleased = await release(clock())
      if (isHeld || isReleased) dueList.lookAgain()
    } catch (error) {
      trouble(error)
    }
    flushing = undefined
    if (dueList.mustLook()) wake()
  }

  // Those that cannot be written stay due, and are seen again.
  async function writeHeld(now: Date) {
    heldAt = performance.now()
    const candidates = [...leaving.values()]
    try {
      await parkDeliveries(
        db,
        candidates.map(candidate => parkedOf(candidate, now)),
        now,
      )
      for (const { merchant_id, lane } of candidates)
        waiting.set(laneKey({ merchant_id, lane }), { merchant_id, lane })
    } finally {
      for (const candidate of candidates) leaving.delete(deliveryKey(candidate))
    }
  }

  async function movePromoted() {
    for (const one of promoted.splice(0)) {
      const count = await moveParked(db, one, movedAtOnce)
      if (count > 0)
        waiting.set(laneKey({ ...one, lane: one.to }), { merchant_id: one.merchant_id, lane: one.to })
      if (count === movedAtOnce) promoted.push(one)
    }
  }

  // Those that have room, and nothing on the list that could fill it.
  function lanesToRelease(now: Date): LaneName[] {
    if (waiting.size === 0) return []
    const busy = new Set(dueList.due().map(laneKey))
    const seen = new Map<string, number>() // by merchant and rank: others of a lower rank take none of its slots
    for (const one of dueList.due()) seen.set(rankKey(one), (seen.get(rankKey(one)) ?? 0) + 1)
    const lanes: LaneName[] = []
    for (const [key, lane] of waiting) {
      if (lanes.length === lanesAtOnce) break
      const isEnough = busy.has(key) || (seen.get(rankKey(lane)) ?? 0) >= releasedAtOnce
      if (!isEnough && hasRoom(lane, traffic, now)) lanes.push(lane)
    }
    return lanes
  }

  // True when some came into dueList. A lane whose deliveries have followed their path to another is empty: the next ones
  // are tried at once.
  async function release(now: Date): Promise<boolean> {
    let released = 0
    for (let lanes = lanesToRelease(now); released === 0 && lanes.length > 0; lanes = lanesToRelease(now))
      for (const lane of lanes) released += await releaseLane(lane, now)
    return released > 0
  }

  async function releaseLane({ merchant_id, lane }: LaneName, now: Date): Promise<number> {
    const key = laneKey({ merchant_id, lane })
    const isClosed = traffic.lanes.get(key)?.openUntil == null
    const most = isClosed ? releasedAtOnce : 1
    const count = isClosed
      ? await releaseDeliveries(db, merchant_id, lane, now, most)
      : await chooseProbe({ merchant_id, lane }, now)
    if (count < most) waiting.delete(key)
    return count
  }

  async function chooseProbe(name: LaneName, now: Date): Promise<number> {
    const chosen = await releaseProbe(db, name.merchant_id, name.lane, now)
    if (chosen) traffic.probes.set(laneKey(name), deliveryKey(chosen))
    return chosen ? 1 : 0
  }

  async function sweep() {
    sweptAt = performance.now()
    for (const lane of await lanesWithParked(db)) waiting.set(laneKey(lane), lane)
  }

  const isHeld = (name: LaneName) => waiting.has(laneKey(name))

  // Those that wait in the former lane of a path follow it.
  function promote(one: Promoted) {
    const isParked = waiting.has(laneKey({ merchant_id: one.merchant_id, lane: one.from }))
    if (isParked || leaving.size > 0) promoted.push(one)
  }

  return { overflowOf, hold, promote, isHeld, flush, flushed }
}

const since = (moment: number) => performance.now() - moment

// Held for at least a moment: it was just found not to have room.
function parkedOf(
  { merchant_id, tx_reference, sequence, lane, begun_at, last_try_at }: Candidate,
  now: Date,
) {
  const anyway = tryAnyway(begun_at, last_try_at).getTime()
  return {
    merchant_id,
    tx_reference,
    sequence,
    lane,
    until: new Date(Math.max(anyway, now.getTime() + 1000)),
  }
}
