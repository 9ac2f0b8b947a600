import type { Logger } from 'pino'
import { Gauge } from 'prom-client'
import type { ClockWatch, DatabaseClock } from '../runtime/databaseClock.ts'
import type { Metrics } from './metrics.ts'

const secondsOf = (ms: number) => Math.round(ms) / 1000

// Logs when workers pause because of the database's clock, and when they continue.
export const watchClock = (log: Logger): ClockWatch => ({
  jumpSuspected: jumpMs =>
    log.error(
      { jump_seconds: secondsOf(jumpMs) },
      "clock skew: the database's clock has jumped (another server, or this machine slept); this node's workers pause " +
        'until it is back, or has stayed the same for a minute',
    ),
  jumpAccepted: jumpMs =>
    log.warn({ moved_seconds: secondsOf(jumpMs) }, 'clock skew is over: workers continue'),
})

export function gaugeClock(
  { registry }: Metrics,
  clock: Pick<DatabaseClock, 'pause' | 'jumpMs' | 'machineAheadMs'>,
) {
  const registers = [registry]
  const offset = new Gauge({
    name: 'tollgate_clock_offset_seconds',
    help:
      "How far clocks are ahead of the time that this node uses: the database's, which is 0 unless it has jumped, and " +
      'that of this machine, which is not used.',
    labelNames: ['of'],
    registers,
    collect() {
      this.set({ of: 'database' }, secondsOf(clock.jumpMs()))
      this.set({ of: 'machine' }, secondsOf(clock.machineAheadMs()))
    },
  })
  const paused = new Gauge({
    name: 'tollgate_workers_paused',
    help: "Whether this node's workers pause (1), because the database's clock has jumped, or work (0).",
    registers,
    collect() {
      this.set(clock.pause() ? 1 : 0)
    },
  })
  return [offset, paused]
}
