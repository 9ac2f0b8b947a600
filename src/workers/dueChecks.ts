import type { Pause } from '../core/databaseClock.ts'
import type { DueTimes } from '../core/dueKinds.ts'
import type { DueWork } from '../runtime/dueWork.ts'
import type { Heartbeats } from '../runtime/heartbeats.ts'
import { isUnsupported } from '../store/databaseErrors.ts'
import type { Db } from '../store/db.ts'
import { type DueCheck, readDueTimes, readDueTimesOfShards } from '../store/dueTimes.ts'
import { type Loop, startLoop } from './loop.ts'

const busyRestMs = 500
const quietRestMs = 3000
const timeoutMs = 2000

type DueCheckOptions = {
  db: Db
  work: DueWork
  receivesWakeUps(): boolean
  facts(): DueCheck
  trouble(error: unknown): void
  pause?: Pause
  heartbeats?: Heartbeats
}

// Asks by one statement what is due, so that idle workers do not search. Without wake-ups of other nodes nothing is asked, and
// the workers search as often as they can: see runtime/dueWork.ts. A check that fails, or that waits for a locked table,
// has the same effect.
export function startDueChecks(options: DueCheckOptions): Loop {
  const { db, work, receivesWakeUps, facts, trouble, pause, heartbeats } = options
  const own = db.withQuota('due_checks')
  let versions: string | null = null // of the provider accounts
  let read = readDueTimes

  async function step() {
    if (!receivesWakeUps()) return 0
    const startedAt = performance.now()
    try {
      const times: DueTimes = {}
      for (const { kind, at, version } of await read(own.withDeadline(startedAt + timeoutMs), facts())) {
        if (kind === 'accounts') {
          if (version !== versions) times.accounts = 0
          versions = version
        } else if (kind === 'parked') times.parked = 0
        else if (at) times[kind] = Math.min(times[kind] ?? Infinity, at.getTime())
      }
      work.checked(startedAt, times)
    } catch (error) {
      work.failed()
      if (read === readDueTimesOfShards || !isUnsupported(error)) throw error
      read = readDueTimesOfShards
      return 1 // repeat the step
    }
    return 0
  }

  const loop = startLoop({
    restMs: () => (work.isBusy() ? busyRestMs : quietRestMs),
    step,
    onTrouble: trouble,
    pause,
    heartbeat: heartbeats?.of('dueChecks'),
  })
  work.onBusy(loop.wake)
  return loop
}
