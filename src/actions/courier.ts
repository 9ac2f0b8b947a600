import type { Mode } from '../core/payment.ts'
import {
  arrive,
  type Candidate,
  type Choice,
  choose,
  laneKey,
  mostInFlight,
  newTraffic,
  paymentKey,
  type Traffic,
} from '../core/choose.ts'
import type { Result } from '../core/delivery.ts'
import { type BreakerState, breakerOf, isIdle, type Lane, learn, newLane } from '../core/lane.ts'
import { notificationId } from '../core/notification.ts'
import {
  type Lease,
  lookForDue,
  type Taken,
  stillDue,
  takeAlone,
  takeAmongSiblings,
} from '../store/deliveries.ts'
import type { Db } from '../store/db.ts'
import { newLeaseToken } from './ids.ts'
import { createLaneQueues } from './laneQueues.ts'
import { createTriedLog } from './saveTried.ts'
import { type Sending, sendTry, type Tried } from './sendTry.ts'

const leaseMs = 30_000 // a try ends after 10 s at the latest, and none starts in the last 10 s of its lease
const lookMs = 200 // so that what another node has committed leaves within a quarter of a second
const lookAtMost = 500
const lanesRemembered = 10_000

// What the operator watches.
export type CourierWatch = {
  tried(facts: { result: Result; mode: Mode; toFirstByteMs: number | null }): void // null for all but first tries
  exhausted(notification_id: string): void
  trouble(error: unknown): void
}

export type CourierOptions = Sending & { db: Db; watch: CourierWatch; wake(): void }

export type Courier = {
  look(): void // something may have become due
  restMs(): number // until it is time to look again
  step(): Promise<number> // takes what can start now; gives back how much there was to do
  finished(): Promise<void> // all that is on its way has ended and is written down
  inFlight(): number
  breakers(): { merchant_id: string; lane: string; state: BreakerState }[] // that are not closed
}

// Carries notifications to merchants. Looks what is due, chooses what can start now, takes it in one commit, sends it,
// and writes down what came of it. Any number of processes may do this on one database.
export function createCourier(options: CourierOptions): Courier {
  const { db, clock, watch, wake } = options
  const traffic = newTraffic()
  const underWay = new Set<Promise<void>>()
  const queues = createLaneQueues(db, traffic)
  const log = createTriedLog(db)
  let window: Candidate[] = [] // due when we last looked, and not started yet
  let isCrowded = false // there was more than we looked at
  let mustLook = true
  let lookedAt = 0

  async function step() {
    const now = clock()
    const hasLooked =
      mustLook || performance.now() - lookedAt >= lookMs || (isCrowded && window.length < mostInFlight)
    if (hasLooked) await lookAround(now)
    const choice = choose(window, traffic, now)
    window = choice.wait
    const held = hasLooked ? heldBy(choice, now) : choice.hold
    if (choice.take.length > 0) await start(choice.take) // first: what was chosen has its slot
    await queues.hold(held, now)
    if (await queues.release(window, now)) mustLook = true
    return mustLook ? 1 : choice.take.length
  }

  async function lookAround(now: Date) {
    mustLook = false
    lookedAt = performance.now()
    const first = await lookForDue(db, false, now, lookAtMost)
    const again = await lookForDue(db, true, now, lookAtMost)
    isCrowded = first.length === lookAtMost || again.length === lookAtMost
    window = [...first, ...again]
  }

  // In a crowd, those behind a full lane would hide the others.
  function heldBy(choice: Choice<Candidate>, now: Date) {
    const crowd = isCrowded && traffic.total < mostInFlight ? queues.crowdIn(choice.wait, now) : []
    if (crowd.length > 0) {
      const leaving = new Set(crowd)
      window = window.filter(candidate => !leaving.has(candidate))
      mustLook = true
    }
    return [...choice.hold, ...crowd]
  }

  async function start(chosen: Candidate[]) {
    const now = clock()
    const lease: Lease = { token: newLeaseToken(), until: new Date(now.getTime() + leaseMs), now }
    // By payment, of which one is chosen at most: a sibling may go in its place.
    const leaving = new Map(chosen.map(candidate => [paymentKey(candidate), candidate]))
    const go = (taken: Taken) => {
      const candidate = leaving.get(paymentKey(taken)) as Candidate
      leaving.delete(paymentKey(taken))
      const going = carry(candidate, taken).catch(watch.trouble)
      underWay.add(going)
      void going.finally(() => underWay.delete(going))
    }
    try {
      for (const taken of await takeAlone(db, chosen, lease)) go(taken)
      if (leaving.size === 0) return
      for (const key of await stillDue(db, [...leaving.values()], now)) {
        const taken = await takeAmongSiblings(db, leaving.get(paymentKey(key)) as Candidate, lease)
        if (taken) go(taken)
      }
    } finally {
      for (const candidate of leaving.values()) arrive(traffic, candidate, withoutOne(laneOf(candidate)))
    }
  }

  const laneOf = (candidate: Pick<Candidate, 'merchant_id' | 'lane'>): Lane =>
    traffic.lanes.get(laneKey(candidate)) ?? newLane()

  async function carry(candidate: Candidate, taken: Taken) {
    const departed = clock().getTime()
    let tried: Tried | undefined
    try {
      tried = await sendTry(options, taken)
    } finally {
      const lane = laneOf(candidate)
      const after = tried ? learn(lane, tried.outcome.result, departed, clock().getTime()) : withoutOne(lane)
      arrive(traffic, candidate, after)
      forgetLanes(traffic)
      wake()
    }
    if (!tried) return
    report(taken, tried)
    await log.add(tried)
  }

  function report({ mode, tries, created_at }: Taken, { outcome, first_byte_at }: Tried) {
    const toFirstByteMs = tries === 1 && first_byte_at ? first_byte_at.getTime() - created_at.getTime() : null
    watch.tried({ result: outcome.result, mode, toFirstByteMs })
    if (outcome.exhausted_at) watch.exhausted(notificationId(outcome))
  }

  return {
    look: () => void (mustLook = true),
    restMs: () => Math.max(1, lookedAt + lookMs - performance.now()),
    step,
    finished: async () => void (await Promise.all(underWay)),
    inFlight: () => traffic.total,
    breakers: () =>
      [...traffic.lanes].flatMap(([key, lane]) => {
        const state = breakerOf(lane, clock().getTime())
        const [merchant_id = '', name = ''] = key.split(' ')
        return state === 'closed' ? [] : [{ merchant_id, lane: name, state }]
      }),
  }
}

const withoutOne = (lane: Lane): Lane => ({ ...lane, inFlight: lane.inFlight - 1 })

// Those of which there is nothing to know, then those that were met first.
function forgetLanes({ lanes }: Traffic) {
  if (lanes.size <= lanesRemembered) return
  for (const [key, lane] of lanes) if (isIdle(lane)) lanes.delete(key)
  for (const [key, { inFlight }] of lanes)
    if (inFlight === 0 && lanes.size > lanesRemembered / 2) lanes.delete(key)
}
