// One, two and four processes behind one port, each with its own gateway on the same database. On a machine that also runs
// PostgreSQL and the load generator, more processes find no free CPU.
import { setTimeout as sleep } from 'node:timers/promises'
import { through } from '../contenders/requests.js'
import { once } from './once.js'

const lengths = {
  whole: { rounds: 5, measureMs: 2000, warmUpMs: 4000, connections: 256, counts: [1, 2, 4] },
  quick: { rounds: 3, measureMs: 700, warmUpMs: 2000, connections: 256, counts: [1, 2, 4] },
  smallest: { rounds: 1, measureMs: 300, warmUpMs: 0, connections: 16, counts: [1, 2] },
}
const warmMs = 400
const storedForStatus = 20_000
const startMs = 60_000
const metricsToken = 'token-of-the-bench'

export function severalProcesses(bench, size) {
  const { rounds, measureMs, warmUpMs, connections, counts } = lengths[size]
  const database = /** @type {any} */ ({})
  const gateways = counts.map(() => /** @type {any} */ ({}))
  const start = once(async () => {
    await bench.stopGateways()
    Object.assign(database, await bench.server.create('processes'))
    for (const [at, count] of counts.entries()) {
      const env = { TOLLGATE_PROCESSES: String(count), TOLLGATE_METRICS_TOKEN: metricsToken }
      Object.assign(gateways[at], await bench.startGateway(database, env))
      await untilAllListen(gateways[at], count)
    }
  })
  const section = (title, kind, emptied) => ({
    title: `${title}, several processes`,
    rounds,
    warmUpMs,
    prepare: start,
    job: { kind, stored: storedForStatus, warmMs, measureMs },
    contenders: counts.map((count, at) =>
      through(bench, gateways[at], database, {
        id: `p${count}`,
        label: count === 1 ? '(c) one process' : `(c) ${count} processes`,
        count: connections,
        emptied,
      }),
    ),
    ratios: counts
      .filter(count => count > 1)
      .map(count => ({ name: `${count} processes/one`, of: `p${count}`, to: 'p1', by: 'rate' })),
  })
  return [section('Initiation', 'initiation', true)]
}

// The first process listens before the others. A scrape has those that do.
async function untilAllListen({ port }, count) {
  if (count === 1) return
  const giveUpAt = performance.now() + startMs
  const headers = { authorization: `Bearer ${metricsToken}` }
  for (;;) {
    const page = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).text()
    if (page.match(/^process_start_time_seconds\{/gm)?.length === count) return
    if (performance.now() > giveUpAt) throw new Error(`Not all of ${count} processes listen.`)
    await sleep(100)
  }
}
