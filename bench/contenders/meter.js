// What a round is counted by.
import { machineMs } from './usage.js'

let series = 0 // of rounds, so that no two of them store the same invoice
export const nextSeries = () => ++series

/** @typedef {{ requests: number, rate: number, p50?: number, p99?: number, cpuMs: number }} Figures */

// CPU time that went by between start and stop: of each source per request, and what was left to others. Parts are of a source,
// and are not added to it.
export function createMeter(sources, parts = {}) {
  const names = Object.keys(sources)
  const read = () => ({
    machine: machineMs(),
    ms: names.map(name => sources[name]()),
    partMs: Object.entries(parts).map(([name, readMs]) => ({ name, ms: readMs() })),
  })
  let before
  let after
  return {
    start: () => (before = read()),
    stop: () => (after = read()),
    /** @param {Figures} figures */
    complete({ requests, rate, p50, p99, cpuMs }) {
      const usedMs = { load: cpuMs }
      names.forEach((name, at) => (usedMs[name] = after.ms[at] - before.ms[at]))
      const ours = Object.values(usedMs).reduce((sum, ms) => sum + ms, 0)
      const used = after.machine.used - before.machine.used
      const others = Math.max(0, (used - ours) / (after.machine.all - before.machine.all))
      const cpuUs = Object.fromEntries(
        Object.entries(usedMs).map(([name, ms]) => [name, (ms * 1000) / requests]),
      )
      for (const [at, { name, ms }] of after.partMs.entries())
        cpuUs[name] = ((ms - before.partMs[at].ms) * 1000) / requests
      const cpu = (cpuUs.gateway ?? 0) + cpuUs.postgres
      return { requests, rate, p50, p99, cpuUs, cpu, others }
    },
  }
}
