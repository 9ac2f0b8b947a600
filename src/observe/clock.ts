import type { Logger } from 'pino'
import { Gauge } from 'prom-client'
import type { ClockWatch, DatabaseClock } from '../runtime/databaseClock.ts'
import type { Metrics } from './metrics.ts'

const secondsOf = (ms: number) => Math.round(ms) / 1000

// What the operator hears of clocks: when work stops because of one, and when it goes on.
export const watchClock = (log: Logger): ClockWatch => ({
  doubted: jumpMs =>
    log.error(
      { jump_seconds: secondsOf(jumpMs) },
      "the database's clock is suddenly elsewhere (another server, or this machine slept): this node's workers pause " +
        'until it is back, or has stood for a minute',
    ),
  believed: jumpMs =>
    log.warn({ moved_seconds: secondsOf(jumpMs) }, "the database's clock is believed: workers go on"),
})

// Numbers that are read when somebody asks for them.
export function gaugeClock(
  { registry }: Metrics,
  clock: Pick<DatabaseClock, 'pause' | 'jumpMs' | 'machineAheadMs'>,
) {
  const registers = [registry]
  const offset = new Gauge({
    name: 'tollgate_clock_offset_seconds',
    help:
      "How far clocks are ahead of the time that this node reckons with: the database's, which is 0 unless it has " +
      'jumped, and that of this machine, which plays no part.',
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
