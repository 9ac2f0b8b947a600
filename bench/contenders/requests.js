// The contenders; each returns the figures of one round.
import { reset } from '../rows/database.js'
import { createMeter, nextSeries } from './meter.js'
import { runPgbench } from '../rivals/pgbench.js'
import { baseOf, straightConnections } from '../rivals/straight.js'

// (a)
export const straight = (bench, database, emptied) => ({
  id: 'a',
  label: bench.loop ? '(a) client loop' : '(a) pgbench',
  connections: straightConnections,
  async run(job) {
    await reset(database, { emptied })
    const number = nextSeries()
    const whole = {
      ...database,
      ...job,
      series: number,
      base: String(baseOf(number)),
      connections: straightConnections,
    }
    const meter = createMeter({ postgres: bench.server.cpuMs })
    let figures
    if (bench.loop) figures = await bench.loop.run(whole, meter.start, meter.stop)
    else figures = await runPgbench(whole, bench.folder, meter.start, meter.stop)
    return meter.complete(figures)
  },
})

// (b), (c) and (d). What else a contender has of its own goes before what is the same for all of a section. `ofAll`: as all
// merchants of a dataset in turn, and not as the one without an endpoint.
export const through = (
  bench,
  gateway,
  database,
  { id, label, count, emptied = false, ofAll = false, ...own },
) => ({
  id,
  label,
  own,
  gateway,
  connections: count,
  async run(job) {
    await reset(database, { emptied })
    const { port, merchant } = gateway
    const sources = { gateway: gateway.cpuMs, postgres: bench.server.cpuMs }
    const meter = createMeter(sources, bench.server.partsMs)
    const all = ofAll && { merchants: database.callers }
    const whole = { ...job, ...all, port, merchant, connections: count, series: `R${nextSeries()}` }
    const figures = await bench.load.run(whole, meter.start, meter.stop)
    return meter.complete(figures)
  },
})
