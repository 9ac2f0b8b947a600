import { setTimeout as sleep } from 'node:timers/promises'
import type { Mode } from '../../core/mode.ts'
import {
  admit,
  type Candidate,
  countEnd,
  isProbing,
  laneKey,
  mostInFlight,
  newTraffic,
  paymentKey,
  type Traffic,
} from '../../core/notification/admit.ts'
import type { Result } from '../../core/notification/delivery.ts'
import {
  afterTry,
  breakerOf,
  isConfigured,
  isIdle,
  type Lane,
  type LaneBreakerState,
  newLane,
  withInFlight,
} from '../../core/notification/lane.ts'
import { notificationId } from '../../core/notification/notification.ts'
import { tryDeadlineMs } from '../../core/notification/schedule.ts'
import { newLeaseToken } from '../../runtime/ids.ts'
import { alwaysSearching, type GatedWork } from '../../runtime/dueWork.ts'
import type { InlineDispatch } from '../../runtime/localWorkers.ts'
import type { Db } from '../../store/db.ts'
import {
  type Lease,
  type LeasedDelivery,
  stillDue,
  takeAmongSiblings,
  takeUnlockedAlone,
} from '../../store/notifications/deliveries.ts'
import { AcknowledgedPaths, type PromotedPath } from './acknowledgedPaths.ts'
import { DueList } from './dueList.ts'
import { createReserve, createUncertainDeliveries } from './inlineDispatcher.ts'
import { ParkedLanes } from './parkedLanes.ts'
import { createTriesLog, type FinishedTry, sendTry, type TriesLog, type TryOptions } from './tries.ts'

const leaseMs = 3 * tryDeadlineMs // no try starts in the last third of its lease
const takeAtMost = mostInFlight / 2 // one half is in flight while the other is being taken
const siblingsAtOnce = 4 // each uses a connection
const maxLanes = 10_000
const nothingTakenMs = 10

// For the log and the metrics.
export type DispatcherWatch = {
  tried(facts: { result: Result; mode: Mode; toFirstByteMs: number | null }): void // null for all but first tries
  exhausted(notification_id: string): void
  passwordWithheld(notification_id: string): void
  trouble(error: unknown): void
}

export type DispatcherOptions = TryOptions & {
  db: Db
  watch: DispatcherWatch
  wake(): void
  work?: GatedWork
}

type TakenDelivery = { candidate: Candidate; delivery: LeasedDelivery }
type LaneName = Pick<Candidate, 'merchant_id' | 'lane'>

// Sends notifications to merchants. In one process a delivery passes through these states:
//
//   due  --admit, take-->  taken  --send-->  in flight  --save-->  ended, or due again later
//   due  --park-->  parked  --release-->  due
//
// - due: on the due list, which polls of the table fill (dueList.ts).
// - parked: behind a lane that is stopped or full, where polls do not see it (parkedLanes.ts).
// - taken: admitted, so a slot is counted in `traffic`; and leased by a commit, so that no other node sends it.
// - in flight: the request is being sent, or its result is being saved (tries.ts).
//
// A delivery that this process commits itself skips due and taken, if there is a slot (inlineDispatcher.ts).
//
// The worker calls `step` in a loop. Each step polls if it is time, admits what can start now, and takes it. While the
// database takes one batch, the batch before is sent. Any number of processes may run this on one database.
export class Dispatcher {
  readonly reserve: InlineDispatch['reserve']
  readonly #options: DispatcherOptions
  readonly #traffic = newTraffic()
  readonly #dueList: DueList
  readonly #parkedLanes: ParkedLanes
  readonly #paths: AcknowledgedPaths
  readonly #triesLog: TriesLog
  readonly #uncertain: ReturnType<typeof createUncertainDeliveries>
  readonly #activity = new Activity() // reservations and tries
  #taken: TakenDelivery[] = []

  constructor(options: DispatcherOptions) {
    const { db, clock, wake, pause, watch, work = alwaysSearching } = options
    const { trouble } = watch
    this.#options = options
    this.#paths = new AcknowledgedPaths({ db, clock, trouble })
    this.#dueList = new DueList(db, this.#paths.assignLanes, work)
    this.#parkedLanes = new ParkedLanes({
      db,
      traffic: this.#traffic,
      dueList: this.#dueList,
      gate: work,
      clock,
      wake,
      trouble,
    })
    this.#triesLog = createTriesLog(db)
    this.#uncertain = createUncertainDeliveries({ db, freed: () => this.#pollAgain(), trouble })
    this.reserve = createReserve({
      traffic: this.#traffic,
      clock,
      pause,
      newLease: now => this.#newLease(now),
      laneOf: this.#paths.laneOf,
      hasWaiting: lane => this.#hasWaiting(lane),
      prepareSigner: merchant_id => options.signers.prepare?.(merchant_id),
      send: (candidate, delivery) => void this.#send(candidate, delivery),
      freeSlot: candidate => {
        this.#freeSlot(candidate)
        wake()
      },
      undoLeases: this.#uncertain.add,
      opened: () => this.#activity.start(),
      ended: () => this.#activity.end(),
    })
  }

  // Deliveries may have become due.
  requestPoll() {
    this.#dueList.requestFullPoll()
  }

  // A delivery was committed that is due now.
  requestNewestPoll() {
    this.#dueList.requestNewestPoll()
  }

  restMs() {
    return this.#dueList.restMs()
  }

  inFlight() {
    return this.#traffic.total
  }

  // Breakers that are not closed.
  breakers(): { merchant_id: string; lane: string; state: LaneBreakerState }[] {
    return [...this.#traffic.lanes].flatMap(([key, lane]) => {
      const state = breakerOf(lane, this.#options.clock().getTime())
      const [merchant_id = '', name = ''] = key.split(' ')
      return state === 'closed' ? [] : [{ merchant_id, lane: name, state }]
    })
  }

  // Returns how much there was to do.
  async step(): Promise<number> {
    const now = this.#options.clock()
    let polled: 'newest' | 'all' | undefined
    if (this.#dueList.needsPoll()) {
      this.sendTaken()
      polled = await this.#dueList.poll(now)
    }
    const admitted = this.#admit(polled, now)
    if (admitted.length > 0) this.#options.work?.active()
    const taking = admitted.length > 0 ? this.#take(admitted) : undefined
    this.sendTaken()
    this.#parkedLanes.flush()
    this.#paths.flush()
    // All rows are locked, or other nodes were faster. Polling again at once would find the same rows.
    if (taking && (await taking) === 0) await sleep(nothingTakenMs)
    if (admitted.length < takeAtMost) this.sendTaken()
    return this.#dueList.isFullPollRequested() || polled === 'newest' ? 1 : admitted.length
  }

  // due -> admitted, parked, or still due. New deliveries are admitted alone, because a batch out of a backlog takes longer.
  #admit(polled: 'newest' | 'all' | undefined, now: Date): Candidate[] {
    const dueList = this.#dueList
    const isNewestOnly = polled === 'newest'
    const others = isNewestOnly ? dueList.due.filter(one => !dueList.isNew(one)) : []
    const candidates = isNewestOnly ? dueList.due.filter(dueList.isNew) : dueList.due
    const { take, park, wait } = admit(candidates, this.#traffic, now, takeAtMost)
    dueList.due = [...others, ...wait]
    this.#parkedLanes.park(park)
    if (polled === 'all' && dueList.isCut() && this.#traffic.total < mostInFlight) this.#parkOverflow(now)
    return take
  }

  // due -> parked. Deliveries behind full lanes would hide others from the poll.
  #parkOverflow(now: Date) {
    const overflow = new Set(this.#parkedLanes.overflowOf(this.#dueList.due, now))
    if (overflow.size === 0) return
    this.#dueList.due = this.#dueList.due.filter(candidate => !overflow.has(candidate))
    this.#parkedLanes.park([...overflow])
  }

  // admitted -> taken. Returns how many were taken; the slots of the others are free.
  async #take(admitted: Candidate[]): Promise<number> {
    const { db, clock } = this.#options
    const lease = this.#newLease(clock())
    // At most one delivery of a payment is admitted, and an older sibling may be taken in its place.
    const remaining = new Map(admitted.map(candidate => [paymentKey(candidate), candidate]))
    try {
      for (const delivery of await takeUnlockedAlone(db, admitted, lease)) this.#addTaken(remaining, delivery)
      if (remaining.size > 0) {
        this.sendTaken() // siblings take longer
        await this.#takeSiblings(remaining, lease)
      }
      return admitted.length - remaining.size
    } finally {
      for (const candidate of remaining.values()) this.#freeSlot(candidate)
    }
  }

  async #takeSiblings(remaining: Map<string, Candidate>, lease: Lease) {
    const { db } = this.#options
    const due = await stillDue(db, [...remaining.values()], lease.now)
    while (due.length > 0) {
      const some = due.splice(0, siblingsAtOnce).map(key => remaining.get(paymentKey(key)) as Candidate)
      const taking = some.map(candidate =>
        takeAmongSiblings(db, candidate, lease, {
          laneOf: this.#paths.laneOf,
          isUntried: !candidate.retry && isProbing(this.#laneOf(candidate), lease.now),
        }),
      )
      for (const delivery of await Promise.all(taking)) if (delivery) this.#addTaken(remaining, delivery)
      this.sendTaken()
    }
  }

  #addTaken(remaining: Map<string, Candidate>, delivery: LeasedDelivery) {
    const key = paymentKey(delivery)
    this.#taken.push({ candidate: remaining.get(key) as Candidate, delivery })
    remaining.delete(key)
  }

  // taken -> in flight. In a pause nothing is sent, and the deliveries wait for the end of their lease.
  sendTaken() {
    for (const { candidate, delivery } of this.#taken.splice(0)) void this.#send(candidate, delivery)
  }

  // in flight -> ended, or due again later.
  async #send(candidate: Candidate, delivery: LeasedDelivery) {
    this.#activity.start()
    const startedAt = this.#options.clock().getTime()
    let finished: FinishedTry | undefined
    try {
      try {
        const sent = await sendTry(this.#options, delivery)
        if (sent === 'lease_uncertain') this.#uncertain.add([delivery], delivery.lease_token)
        else finished = sent
      } finally {
        this.#countEnd(candidate, startedAt, finished)
      }
      if (!finished) return
      this.#report(delivery, finished)
      if (finished.outcome.result === 'acknowledged' && !isConfigured(candidate.lane)) {
        const promoted = this.#paths.count(delivery)
        if (promoted) this.#promote(promoted)
      }
      await this.#triesLog.add(finished)
    } catch (error) {
      this.#options.watch.trouble(error)
    } finally {
      this.#activity.end()
    }
  }

  // The slot is free before the result is saved.
  #countEnd(candidate: Candidate, startedAt: number, finished: FinishedTry | undefined) {
    const { clock, wake } = this.#options
    const lane = this.#laneOf(candidate)
    const started = candidate.past_breaker ? null : startedAt
    const after = finished
      ? afterTry(lane, finished.outcome.result, started, clock().getTime())
      : withoutOne(lane)
    countEnd(this.#traffic, candidate, after)
    dropLanes(this.#traffic)
    wake()
  }

  #freeSlot(candidate: Candidate) {
    countEnd(this.#traffic, candidate, withoutOne(this.#laneOf(candidate)))
  }

  // The new lane of the path starts with the rate of the former one.
  #promote(path: PromotedPath) {
    const { merchant_id, from, to } = path
    const { allowed } = this.#laneOf({ merchant_id, lane: from })
    const key = laneKey({ merchant_id, lane: to })
    if (!this.#traffic.lanes.has(key)) this.#traffic.lanes.set(key, { ...newLane(), allowed })
    for (const one of this.#dueList.due)
      if (one.merchant_id === merchant_id && one.lane === from) this.#paths.reassignLane(one)
    this.#parkedLanes.promote(path)
  }

  // The first try of a delivery is measured from the commit of its status change.
  #report({ mode, tries, begun_at }: LeasedDelivery, finished: FinishedTry) {
    const { watch } = this.#options
    const { outcome, first_byte_at, passwordWithheld } = finished
    const toFirstByteMs = tries === 1 && first_byte_at ? first_byte_at.getTime() - begun_at.getTime() : null
    watch.tried({ result: outcome.result, mode, toFirstByteMs })
    if (passwordWithheld) watch.passwordWithheld(notificationId(outcome))
    if (outcome.exhausted_at) watch.exhausted(notificationId(outcome))
  }

  #laneOf(lane: LaneName): Lane {
    return this.#traffic.lanes.get(laneKey(lane)) ?? newLane()
  }

  #hasWaiting(lane: LaneName): boolean {
    const key = laneKey(lane)
    return this.#traffic.parked.has(key) || this.#dueList.due.some(one => laneKey(one) === key)
  }

  #newLease(now: Date): Lease {
    const token = this.#options.leases?.token() ?? newLeaseToken()
    return { token, until: new Date(now.getTime() + leaseMs), now }
  }

  #pollAgain() {
    this.#dueList.requestFullPoll()
    this.#options.wake()
  }

  // Resolves when all deliveries to park are parked.
  flushed() {
    return this.#parkedLanes.flushed()
  }

  // Resolves when nothing is in flight and everything is saved.
  async finished() {
    this.sendTaken()
    await this.#parkedLanes.flushed()
    await this.#activity.none()
    await this.#parkedLanes.flushed()
    await this.#paths.flushed()
    await this.#uncertain.ended()
  }
}

// Counts reservations and tries, so that `finished` can wait for their end.
class Activity {
  #count = 0
  #waiting: (() => void)[] = []

  start() {
    this.#count++
  }

  end() {
    if (--this.#count > 0) return
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  none() {
    return new Promise<void>(resolve => (this.#count === 0 ? resolve() : void this.#waiting.push(resolve)))
  }
}

const withoutOne = (lane: Lane): Lane => withInFlight(lane, lane.inFlight - 1, lane.movedAt)

// Lanes without a state to keep are dropped first, then the oldest.
function dropLanes({ lanes, probes }: Traffic) {
  if (lanes.size <= maxLanes) return
  for (const [key, lane] of lanes) if (isIdle(lane)) lanes.delete(key)
  for (const [key, { inFlight }] of lanes) if (inFlight === 0 && lanes.size > maxLanes / 2) lanes.delete(key)
  for (const key of probes.keys()) if (!lanes.has(key)) probes.delete(key)
}
