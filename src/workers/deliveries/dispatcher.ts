import { setTimeout as sleep } from 'node:timers/promises'
import type { Mode } from '../../core/mode.ts'
import {
  admit,
  arrive,
  type Candidate,
  isProbing,
  laneKey,
  mostInFlight,
  newTraffic,
  paymentKey,
  type Traffic,
} from '../../core/notification/admit.ts'
import type { Result } from '../../core/notification/delivery.ts'
import {
  type BreakerState,
  breakerOf,
  isIdle,
  type Lane,
  learn,
  newLane,
  withInFlight,
} from '../../core/notification/lane.ts'
import { isConfigured } from '../../core/notification/laneName.ts'
import { notificationId } from '../../core/notification/notification.ts'
import { tryDeadlineMs } from '../../core/notification/schedule.ts'
import { newLeaseToken } from '../../runtime/ids.ts'
import type { Db } from '../../store/db.ts'
import {
  type Lease,
  stillDue,
  type Taken,
  takeAmongSiblings,
  takeUnlockedAlone,
} from '../../store/notifications/deliveries.ts'
import { createAcknowledgedPaths, type Promoted } from './acknowledgedPaths.ts'
import { createUncertainDeliveries } from './uncertainDeliveries.ts'
import { createDueList } from './dueList.ts'
import { createInlineDispatcher, type InlineDispatcher } from './inlineDispatcher.ts'
import { createParkedLanes } from './parkedLanes.ts'
import { countInFlight } from './inFlight.ts'
import { createTriesLog } from './saveTries.ts'
import { type Sending, sendTry, type Tried } from './sendTry.ts'

const leaseMs = 3 * tryDeadlineMs // none starts in the last third of its lease
const takeAtMost = mostInFlight / 2 // one half is on its way while the other is being taken
const siblingsAtOnce = 4 // each has a connection of its own meanwhile
const lanesRemembered = 10_000
const fruitlessMs = 10

// What the operator watches.
export type DispatcherWatch = {
  tried(facts: { result: Result; mode: Mode; toFirstByteMs: number | null }): void // null for all but first tries
  exhausted(notification_id: string): void
  passwordWithheld(notification_id: string): void
  trouble(error: unknown): void
}

export type DispatcherOptions = Sending & { db: Db; watch: DispatcherWatch; wake(): void }

export type Dispatcher = Pick<InlineDispatcher, 'reserve'> & {
  look(): void // something may have become due
  expectNew(): void // something was committed that is due now
  restMs(): number // until it is time to look again
  step(): Promise<number> // takes what can start now; gives back how much there was to do
  leave(): void // what was taken departs, or, in a pause, is left to its lease
  flushed(): Promise<void> // what waits in its lane is written down
  finished(): Promise<void> // all that is on its way has ended, and everything is written down
  inFlight(): number
  breakers(): { merchant_id: string; lane: string; state: BreakerState }[] // that are not closed
}

type Departure = { candidate: Candidate; taken: Taken }

// Carries notifications to merchants. Looks what is due, chooses what can start now, takes it in one commit, sends it,
// and writes down what came of it. Any number of processes may do this on one database.
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { db, clock, watch, wake } = options
  const traffic = newTraffic()
  const underWay = countInFlight()
  const paths = createAcknowledgedPaths({ db, clock, trouble: watch.trouble })
  const dueList = createDueList(db, paths.assign)
  const heldLanes = createParkedLanes({ db, traffic, dueList, clock, wake, trouble: watch.trouble })
  const log = createTriesLog(db)
  const doubts = createUncertainDeliveries({ db, freed: lookAgain, trouble: watch.trouble })
  const { reserve } = createInlineDispatcher({
    traffic,
    clock,
    pause: options.pause,
    newLease,
    laneOf: paths.laneOf,
    isWaitedFor: name => heldLanes.isHeld(name) || dueList.due().some(one => laneKey(one) === laneKey(name)),
    prepare: ({ notification: { merchant_id } }) => options.signers.prepare?.(merchant_id),
    carry: (candidate, taken) => void carry(candidate, taken),
    free,
    undo: doubts.add,
    ...underWay,
  })
  let ready: Departure[] = [] // taken, and about to leave

  // In a crowd, those that were taken leave while the database takes the next.
  async function step() {
    const now = clock()
    const isLook = dueList.wantsLook()
    if (isLook) leave()
    const isNew = isLook && (await dueList.look(now)) === 'new'
    // What is new is taken by itself: of a crowd there is more to take, which takes longer.
    const others = isNew ? dueList.due().filter(one => !dueList.isFresh(one)) : []
    const some = isNew ? dueList.due().filter(dueList.isFresh) : dueList.due()
    const admitted = admit(some, traffic, now, takeAtMost)
    dueList.replace([...others, ...admitted.wait])
    heldLanes.hold(admitted.hold)
    if (isLook && !isNew && dueList.hasMore() && traffic.total < mostInFlight) holdOverflow(now)
    const taking = admitted.take.length > 0 ? take(admitted.take) : undefined
    leave()
    heldLanes.flush()
    paths.flush()
    // All of them are held by somebody, or others were faster: not at once again.
    if (taking && (await taking) === 0) await sleep(fruitlessMs)
    if (admitted.take.length < takeAtMost) leave()
    return dueList.mustLook() || isNew ? 1 : admitted.take.length
  }

  // Those behind a full lane would hide the others.
  function holdOverflow(now: Date) {
    const overflow = new Set(heldLanes.overflowOf(dueList.due(), now))
    if (overflow.size === 0) return
    dueList.replace(dueList.due().filter(candidate => !overflow.has(candidate)))
    heldLanes.hold([...overflow])
  }

  function newLease(now: Date): Lease {
    const token = options.leases?.token() ?? newLeaseToken()
    return { token, until: new Date(now.getTime() + leaseMs), now }
  }

  async function take(chosen: Candidate[]): Promise<number> {
    const now = clock()
    const lease = newLease(now)
    // By payment, of which one is chosen at most: a sibling may go in its place.
    const left = new Map(chosen.map(candidate => [paymentKey(candidate), candidate]))
    const add = (taken: Taken) => {
      ready.push({ candidate: left.get(paymentKey(taken)) as Candidate, taken })
      left.delete(paymentKey(taken))
    }
    try {
      for (const taken of await takeUnlockedAlone(db, chosen, lease)) add(taken)
      if (left.size === 0) return chosen.length
      leave() // before siblings are looked after
      const due = await stillDue(db, [...left.values()], now)
      while (due.length > 0) {
        const some = due.splice(0, siblingsAtOnce).map(key => left.get(paymentKey(key)) as Candidate)
        const taking = some.map(candidate =>
          takeAmongSiblings(db, candidate, lease, {
            laneOf: paths.laneOf,
            isUntried: !candidate.retry && isProbing(laneOf(candidate), now),
          }),
        )
        for (const taken of await Promise.all(taking)) if (taken) add(taken)
        leave()
      }
      return chosen.length - left.size
    } finally {
      for (const candidate of left.values()) arrive(traffic, candidate, withoutOne(laneOf(candidate)))
    }
  }

  function leave() {
    for (const { candidate, taken } of ready.splice(0)) void carry(candidate, taken)
  }

  const laneOf = (candidate: Pick<Candidate, 'merchant_id' | 'lane'>): Lane =>
    traffic.lanes.get(laneKey(candidate)) ?? newLane()

  async function carry(candidate: Candidate, taken: Taken) {
    underWay.enter()
    const departed = clock().getTime()
    let tried: Tried | undefined
    try {
      try {
        const ended = await sendTry(options, taken)
        if (ended === 'unsure')
          doubts.add([taken], taken.lease_token) // no byte has left
        else tried = ended
      } finally {
        comeBack(candidate, departed, tried)
      }
      if (!tried) return
      report(taken, tried)
      if (tried.outcome.result === 'acknowledged' && !isConfigured(candidate.lane)) {
        const promoted = paths.acknowledged(taken)
        if (promoted) promote(promoted)
      }
      await log.add(tried)
    } catch (error) {
      watch.trouble(error)
    } finally {
      underWay.leave()
    }
  }

  function comeBack(candidate: Candidate, departed: number, tried: Tried | undefined) {
    const lane = laneOf(candidate)
    const started = candidate.past_breaker ? null : departed
    const after = tried ? learn(lane, tried.outcome.result, started, clock().getTime()) : withoutOne(lane)
    arrive(traffic, candidate, after)
    forgetLanes(traffic)
    wake()
  }

  // The new lane goes on at the rate of the one before.
  function promote(promoted: Promoted) {
    const { merchant_id, from, to } = promoted
    const { allowed } = laneOf({ merchant_id, lane: from })
    const key = laneKey({ merchant_id, lane: to })
    if (!traffic.lanes.has(key)) traffic.lanes.set(key, { ...newLane(), allowed })
    for (const one of dueList.due())
      if (one.merchant_id === merchant_id && one.lane === from) paths.reassign(one)
    heldLanes.promote(promoted)
  }

  function free(candidate: Candidate) {
    arrive(traffic, candidate, withoutOne(laneOf(candidate)))
    wake()
  }

  function lookAgain() {
    dueList.lookAgain()
    wake()
  }

  // At its first try a delivery began with the commit of its change.
  function report({ mode, tries, begun_at }: Taken, { outcome, first_byte_at, passwordWithheld }: Tried) {
    const toFirstByteMs = tries === 1 && first_byte_at ? first_byte_at.getTime() - begun_at.getTime() : null
    watch.tried({ result: outcome.result, mode, toFirstByteMs })
    if (passwordWithheld) watch.passwordWithheld(notificationId(outcome))
    if (outcome.exhausted_at) watch.exhausted(notificationId(outcome))
  }

  return {
    reserve,
    look: dueList.lookAgain,
    expectNew: dueList.expectNew,
    restMs: dueList.restMs,
    step,
    leave,
    flushed: heldLanes.flushed,
    async finished() {
      leave()
      await heldLanes.flushed()
      await underWay.gone()
      await heldLanes.flushed()
      await paths.flushed()
      await doubts.ended()
    },
    inFlight: () => traffic.total,
    breakers: () =>
      [...traffic.lanes].flatMap(([key, lane]) => {
        const state = breakerOf(lane, clock().getTime())
        const [merchant_id = '', name = ''] = key.split(' ')
        return state === 'closed' ? [] : [{ merchant_id, lane: name, state }]
      }),
  }
}

const withoutOne = (lane: Lane): Lane => withInFlight(lane, lane.inFlight - 1, lane.movedAt)

// Those of which there is nothing to know, then those that were met first.
function forgetLanes({ lanes, probes }: Traffic) {
  if (lanes.size <= lanesRemembered) return
  for (const [key, lane] of lanes) if (isIdle(lane)) lanes.delete(key)
  for (const [key, { inFlight }] of lanes)
    if (inFlight === 0 && lanes.size > lanesRemembered / 2) lanes.delete(key)
  for (const key of probes.keys()) if (!lanes.has(key)) probes.delete(key)
}
