import {
  type Candidate,
  deliveryKey,
  hasRoom,
  laneKey,
  rankKey,
  type Traffic,
} from '../../core/notification/admit.ts'
import { tryAnyway } from '../../core/notification/schedule.ts'
import type { SearchGate } from '../../runtime/dueWork.ts'
import type { Db } from '../../store/db.ts'
import {
  lanesWithParked,
  moveParked,
  parkDeliveries,
  releaseDeliveries,
  releaseProbe,
} from '../../store/notifications/parkedDeliveries.ts'
import type { PromotedPath } from './acknowledgedPaths.ts'
import type { DueList } from './dueList.ts'

const releasedAtOnce = 32
const lanesAtOnce = 4
const movedAtOnce = 1000
const fullParkBatch = 100
const parkBatchMs = 100 // a smaller batch is written after this time
const sweepMs = 5000
const parkedAtLeastMs = 1000

type LaneName = Pick<Candidate, 'merchant_id' | 'lane'>

type ParkedLaneOptions = {
  db: Db
  traffic: Traffic
  dueList: DueList
  gate: SearchGate
  clock(): Date
  wake(): void
  trouble(error: unknown): void
}

// A delivery is parked while its lane is full or stopped by its breaker: polls do not return it, so that it does not hide
// the deliveries of other lanes. A delivery passes through these states:
//
// - to park: the dispatcher took it off the due list; it is written with the next batch.
// - parked: its row has `parked`. Its lane is in `traffic.parked`. A lane that another process has parked is found by a
//   sweep every 5 s.
// - released: its lane has room and nothing on the due list that could fill it, so a batch of its oldest deliveries is
//   due again. While the breaker is probing, the batch is one delivery, the probe.
//
// One round of statements runs at a time, beside the steps of the dispatcher: deliveries that can start do not wait for
// it. A round sweeps, parks, moves and releases, in this order.
export class ParkedLanes {
  readonly #options: ParkedLaneOptions
  readonly #toPark = new Map<string, Candidate>() // by deliveryKey
  readonly #toMove: PromotedPath[] = [] // paths whose parked deliveries are still in their former lane
  #round: Promise<void> | undefined
  #parkedAt = -Infinity
  #sweptAt = -Infinity

  constructor(options: ParkedLaneOptions) {
    this.#options = options
  }

  park(candidates: readonly Candidate[]) {
    for (const candidate of candidates) this.#toPark.set(deliveryKey(candidate), candidate)
  }

  // The part of the due list to park because its lane or merchant has no room. Of each merchant twice as many as are in
  // flight stay listed, so that no slot stays empty; together that is a small part of a poll.
  overflowOf(due: readonly Candidate[], now: Date): Candidate[] {
    const { traffic, dueList } = this.#options
    const listed = new Map<string, number>() // by merchant
    return due.filter(candidate => {
      if (dueList.isNew(candidate) || hasRoom(candidate, traffic, now)) return false
      const { merchant_id } = candidate
      const before = listed.get(merchant_id) ?? 0
      listed.set(merchant_id, before + 1)
      return before >= 2 * (traffic.merchants.get(merchant_id) ?? 0)
    })
  }

  // The parked deliveries of a promoted path follow it to its new lane.
  promote(path: PromotedPath) {
    const { parked } = this.#options.traffic
    const isParked = parked.has(laneKey({ merchant_id: path.merchant_id, lane: path.from }))
    if (isParked || this.#toPark.size > 0) this.#toMove.push(path)
  }

  // Starts a round if there is something to do.
  flush() {
    if (this.#round) return
    const isNeeded =
      this.#isSweepDue() ||
      this.#isParkBatchDue() ||
      this.#toMove.length > 0 ||
      this.#lanesToRelease(this.#options.clock()).length > 0
    if (isNeeded) this.#round = this.#runRound()
  }

  async flushed() {
    await this.#round
    if (this.#toPark.size > 0 || this.#toMove.length > 0) this.#round ??= this.#runRound()
    await this.#round
  }

  #isSweepDue() {
    return since(this.#sweptAt) >= sweepMs && this.#options.gate.mayBeDue('parked')
  }

  #isParkBatchDue() {
    const { size } = this.#toPark
    return size >= fullParkBatch || (size > 0 && since(this.#parkedAt) >= parkBatchMs)
  }

  async #runRound() {
    const { dueList, clock, wake, trouble } = this.#options
    try {
      if (this.#isSweepDue()) await this.#sweep()
      // A cut list has room for other deliveries once these are parked.
      const revealsMore = this.#toPark.size > 0 && dueList.isCut()
      if (this.#toPark.size > 0) await this.#writeParked(clock())
      if (this.#toMove.length > 0) await this.#moveToPromoted()
      const isReleased = await this.#release(clock())
      if (revealsMore || isReleased) dueList.requestFullPoll()
    } catch (error) {
      trouble(error)
    }
    this.#round = undefined
    if (dueList.isFullPollRequested()) wake()
  }

  async #sweep() {
    this.#sweptAt = performance.now()
    this.#options.gate.begins('parked')
    for (const lane of await lanesWithParked(this.#options.db)) this.#addLane(lane)
  }

  // Those that cannot be written stay due, and the next poll returns them.
  async #writeParked(now: Date) {
    this.#parkedAt = performance.now()
    const candidates = [...this.#toPark.values()]
    try {
      const rows = candidates.map(candidate => parkedOf(candidate, now))
      await parkDeliveries(this.#options.db, rows, now)
      for (const { merchant_id, lane } of candidates) this.#addLane({ merchant_id, lane })
    } finally {
      for (const candidate of candidates) this.#toPark.delete(deliveryKey(candidate))
    }
  }

  async #moveToPromoted() {
    for (const path of this.#toMove.splice(0)) {
      const count = await moveParked(this.#options.db, path, movedAtOnce)
      if (count > 0) this.#addLane({ merchant_id: path.merchant_id, lane: path.to })
      if (count === movedAtOnce) this.#toMove.push(path)
    }
  }

  // Returns whether some are due now. A lane may be empty because its deliveries have moved; then the next lanes are
  // tried.
  async #release(now: Date): Promise<boolean> {
    let released = 0
    for (
      let lanes = this.#lanesToRelease(now);
      released === 0 && lanes.length > 0;
      lanes = this.#lanesToRelease(now)
    )
      for (const lane of lanes) released += await this.#releaseLane(lane, now)
    return released > 0
  }

  async #releaseLane({ merchant_id, lane }: LaneName, now: Date): Promise<number> {
    const { db, traffic } = this.#options
    const key = laneKey({ merchant_id, lane })
    const isClosed = traffic.lanes.get(key)?.openUntil == null
    const most = isClosed ? releasedAtOnce : 1
    const count = isClosed
      ? await releaseDeliveries(db, merchant_id, lane, now, most)
      : await this.#chooseProbe({ merchant_id, lane }, now)
    if (count < most) traffic.parked.delete(key)
    return count
  }

  async #chooseProbe(name: LaneName, now: Date): Promise<number> {
    const { db, traffic } = this.#options
    const probe = await releaseProbe(db, name.merchant_id, name.lane, now)
    if (probe) traffic.probes.set(laneKey(name), deliveryKey(probe))
    return probe ? 1 : 0
  }

  // Lanes that have room, and too few deliveries on the due list to fill it. Counted by merchant and rank, because
  // deliveries of a lower rank take no slots of a higher one.
  #lanesToRelease(now: Date): LaneName[] {
    const { traffic, dueList } = this.#options
    if (traffic.parked.size === 0) return []
    const listedLanes = new Set(dueList.due.map(laneKey))
    const listedByRank = new Map<string, number>()
    for (const one of dueList.due) listedByRank.set(rankKey(one), (listedByRank.get(rankKey(one)) ?? 0) + 1)
    const lanes: LaneName[] = []
    for (const [key, lane] of traffic.parked) {
      if (lanes.length === lanesAtOnce) break
      const isEnough = listedLanes.has(key) || (listedByRank.get(rankKey(lane)) ?? 0) >= releasedAtOnce
      if (!isEnough && hasRoom(lane, traffic, now)) lanes.push(lane)
    }
    return lanes
  }

  #addLane(lane: LaneName) {
    this.#options.traffic.parked.set(laneKey(lane), lane)
  }
}

const since = (moment: number) => performance.now() - moment

function parkedOf(
  { merchant_id, tx_reference, sequence, lane, begun_at, last_try_at }: Candidate,
  now: Date,
) {
  const tryAnywayAt = tryAnyway(begun_at, last_try_at).getTime()
  const until = new Date(Math.max(tryAnywayAt, now.getTime() + parkedAtLeastMs))
  return { merchant_id, tx_reference, sequence, lane, until }
}
