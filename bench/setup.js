// What a run needs, and how it all goes away again.
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { startArrivals } from './arriving.js'
import { startDatabase } from './database.js'
import { startGateway } from './gateway.js'
import { startReady } from './page.js'
import { pgbenchVersion } from './pgbench.js'
import { straightConnections } from './straight.js'
import { startProviders } from './providing.js'
import { startReceiver } from './receiving.js'
import { startChanging } from './changing.js'
import { thisVersion } from './version.js'
import { startWorker } from './worker.js'

const cleanups = []

const kept = child => {
  cleanups.push(child.stop)
  return child
}

// `former`: a version to measure beside this one, if any.
export async function setUp(noPgbench, former) {
  await thisVersion.build()
  await former?.build()
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
  const server = await startDatabase(join(folder, 'data'))
  cleanups.push(server.stop)
  const load = startWorker('./load.js')
  const customers = startWorker('./customers.js')
  const pgbench = noPgbench ? undefined : pgbenchVersion()
  const loop = pgbench ? undefined : startWorker('./loop.js')
  cleanups.push(load.stop, customers.stop, () => loop?.stop())
  const shipped = []
  const gateways = []
  return {
    folder,
    former,
    server,
    load,
    customers,
    loop, // undefined where pgbench does its work
    shipped, // the gateways that run with no settings but the defaults
    async startGateway(database, env) {
      const gateway = await startGateway(database, env)
      cleanups.push(gateway.stop)
      gateways.push(gateway)
      if (!env) shipped.push(gateway)
      return gateway
    },
    // For sections that start their own: even a gateway that nobody asks looks for work now and then.
    stopGateways: () => Promise.all(gateways.map(gateway => gateway.stop())),
    startArrivals: () => kept(startArrivals()),
    startShops: () => kept(startWorker('./shops.js')),
    startReceiver: () => kept(startReceiver()),
    startProviders: async () => kept(await startProviders()),
    startChanging: (...given) => kept(startChanging(...given)),
    async startReady(page, merchant) {
      const ready = await startReady(page, merchant)
      cleanups.push(ready.stop)
      return ready
    },
    machine: {
      cores: cpus().length,
      cpu: cpus()[0]?.model ?? 'unknown',
      node: process.versions.node,
      ...server.facts,
      straightBy: `${pgbench ? `pgbench ${pgbench}` : 'a plain client loop'}, ${straightConnections} connections`,
    },
  }
}

// Newest first: gateways before the database, the database before its folder.
export async function cleanUp() {
  for (let work = cleanups.pop(); work; work = cleanups.pop()) await work()
}
