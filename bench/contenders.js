// Who is measured, and how: each gives back the figures of one round.
import { reset } from './database.js'
import { runPgbench } from './pgbench.js'
import { machineMs } from './processes.js'
import { baseOf, straightConnections } from './straight.js'

let series = 0 // of rounds, so that no two of them store the same invoice
export const nextSeries = () => ++series

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

// (b), (c) and (d). What else a contender has of its own goes before what is the same for all of a section.
export const through = (bench, gateway, database, { id, label, count, emptied = false, ...own }) => ({
  id,
  label,
  own,
  gateway,
  connections: count,
  async run(job) {
    await reset(database, { emptied })
    const { port, merchant } = gateway
    const meter = createMeter({ gateway: gateway.cpuMs, postgres: bench.server.cpuMs })
    const whole = { ...job, port, merchant, connections: count, series: `R${nextSeries()}` }
    const figures = await bench.load.run(whole, meter.start, meter.stop)
    return meter.complete(figures)
  },
})

// CPU time that went by between start and stop: of each source per request, and what was left to others.
export function createMeter(sources) {
  const names = Object.keys(sources)
  const read = () => ({ machine: machineMs(), ms: names.map(name => sources[name]()) })
  let before
  let after
  return {
    start: () => (before = read()),
    stop: () => (after = read()),
    complete({ requests, rate, p50, p99, cpuMs }) {
      const usedMs = { load: cpuMs }
      names.forEach((name, at) => (usedMs[name] = after.ms[at] - before.ms[at]))
      const ours = Object.values(usedMs).reduce((sum, ms) => sum + ms, 0)
      const used = after.machine.used - before.machine.used
      const others = Math.max(0, (used - ours) / (after.machine.all - before.machine.all))
      const cpuUs = Object.fromEntries(
        Object.entries(usedMs).map(([name, ms]) => [name, (ms * 1000) / requests]),
      )
      const cpu = (cpuUs.gateway ?? 0) + cpuUs.postgres
      return { requests, rate, p50, p99, cpuUs, cpu, others }
    },
  }
}
