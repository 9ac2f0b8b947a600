import {
  type ClockWatch,
  createDatabaseClock,
  type DatabaseClock,
  measureClock,
  measureFirst,
} from '../runtime/databaseClock.ts'
import type { Heartbeats } from '../runtime/heartbeats.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { startLoop } from './loop.ts'

const restMs = 10_000
const unsureRestMs = 2000

type RunningClock = Omit<DatabaseClock, 'step'> & { stop(): Promise<void> }

// Measures the database's clock every 10 s, and every 2 s while the estimate is uncertain. A measurement that fails is
// repeated, and the estimate stays.
export async function startClock(
  { db }: Pick<Runtime, 'db'>,
  watch: ClockWatch,
  heartbeats?: Heartbeats,
): Promise<RunningClock> {
  const clock = createDatabaseClock(await measureFirst(db), {
    measure: () => measureClock(db),
    watch,
    wake: () => loop.wake(),
  })
  let isFresh = true // measured above
  const loop = startLoop({
    restMs: () => (clock.isUnsure() ? unsureRestMs : restMs),
    async step() {
      if (!isFresh) await clock.step()
      isFresh = false
    },
    onTrouble() {},
    heartbeat: heartbeats?.of('clock'),
  })
  return { ...clock, stop: loop.stop }
}

// A clock that a test or a command injects. It is always certain.
export const injectedClock = (now: () => Date): RunningClock => ({
  now,
  pause: () => undefined,
  isUnsure: () => false,
  jumpMs: () => 0,
  machineAheadMs: () => 0,
  stop: async () => {},
})
