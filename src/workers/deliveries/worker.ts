import type { Heartbeats } from '../../runtime/heartbeats.ts'
import { triesKeptMs } from '../../core/notification/delivery.ts'
import type { Db } from '../../store/db.ts'
import { forgetAcknowledgements } from '../../store/notifications/acknowledgedPaths.ts'
import { forgetTries } from '../../store/notifications/tries.ts'
import { startLoop } from '../loop.ts'
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts'

const forgetRestMs = 3_600_000
const forgottenAtOnce = 5000
const dayMs = 24 * 3_600_000
const pathsKeptDays = 30

type Deliveries = Pick<Dispatcher, 'inFlight' | 'breakers' | 'reserve'> & {
  wake(): void
  stop(): Promise<void>
}

// Runs the dispatcher. Deliveries that this process commits are dispatched inline, or announced by `wake`. All others, and
// those whose wake-up is lost, are found by polling.
export function startDeliveries(
  options: Omit<DispatcherOptions, 'wake'> & { heartbeats?: Heartbeats },
): Deliveries {
  const { db, clock, heartbeats } = options
  const dispatcher = new Dispatcher({ ...options, wake: () => loop.wake() })
  const onTrouble = options.watch.trouble
  const pause = () => {
    const paused = options.pause?.()
    if (paused) dispatcher.sendTaken()
    return paused
  }
  const loop = startLoop({
    restMs: () => dispatcher.restMs(),
    step: () => dispatcher.step(),
    onTrouble,
    pause,
    heartbeat: heartbeats?.of('deliveries'),
  })
  const forgetting = startLoop({
    restMs: forgetRestMs,
    step: async () => (await forgetOldTries(db, clock())) + (await forgetOldPaths(db, clock())),
    onTrouble,
    pause,
    heartbeat: heartbeats?.of('oldTries'),
  })
  return {
    inFlight: () => dispatcher.inFlight(),
    breakers: () => dispatcher.breakers(),
    reserve: dispatcher.reserve,
    wake() {
      dispatcher.requestNewestPoll()
      loop.wake()
    },
    async stop() {
      await Promise.all([loop.stop(), forgetting.stop()])
      await dispatcher.finished()
    },
  }
}

// Old tries are removed. The notification and the result of its delivery stay.
export const forgetOldTries = (db: Db, now: Date) =>
  forgetTries(db, new Date(now.getTime() - triesKeptMs), forgottenAtOnce)

// The counts of the last day are kept. After a day without any, the last hour is kept for a month.
export const forgetOldPaths = (db: Db, now: Date) =>
  forgetAcknowledgements(
    db,
    { day: new Date(now.getTime() - dayMs), month: new Date(now.getTime() - pathsKeptDays * dayMs) },
    forgottenAtOnce,
  )
