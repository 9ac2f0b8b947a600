import type { Logger } from 'pino'
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
  { gauge }: Metrics,
  clock: Pick<DatabaseClock, 'pause' | 'jumpMs' | 'machineAheadMs'>,
) {
  gauge(
    'tollgate_clock_offset_seconds',
    "How far clocks are ahead of the time that this node uses: the database's, which is 0 unless it has jumped, and " +
      'that of this machine, which is not used.',
    ['of'],
    offset => {
      offset.set({ of: 'database' }, secondsOf(clock.jumpMs()))
      offset.set({ of: 'machine' }, secondsOf(clock.machineAheadMs()))
    },
  )
  gauge(
    'tollgate_workers_paused',
    "Whether this node's workers pause (1), because the database's clock has jumped, or work (0).",
    [],
    paused => paused.set(clock.pause() ? 1 : 0),
  )
}
