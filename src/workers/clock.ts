import { type ClockWatch, createDatabaseClock, type DatabaseClock } from '../runtime/databaseClock.ts'
import { measureClock, measureFirst } from '../runtime/measureClock.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { startLoop } from './loop.ts'

const restMs = 10_000
const unsureRestMs = 2000

export type RunningClock = Omit<DatabaseClock, 'step'> & { stop(): Promise<void> }

// Measures the database's clock now and then, and more often while it is in doubt. A database that does not answer is
// asked again, and the time goes on as before.
export async function startClock({ db }: Pick<Runtime, 'db'>, watch: ClockWatch): Promise<RunningClock> {
  const clock = createDatabaseClock(await measureFirst(db), {
    measure: () => measureClock(db),
    watch,
    wake: () => loop.wake(),
  })
  let isFresh = true // just measured
  const loop = startLoop({
    restMs: () => (clock.isUnsure() ? unsureRestMs : restMs),
    async step() {
      if (!isFresh) await clock.step()
      isFresh = false
      return 0
    },
    onTrouble() {},
  })
  return { ...clock, stop: loop.stop }
}

// Somebody else's, which is always believed.
export const givenClock = (now: () => Date): RunningClock => ({
  now,
  pause: () => undefined,
  isUnsure: () => false,
  jumpMs: () => 0,
  machineAheadMs: () => 0,
  stop: async () => {},
})
