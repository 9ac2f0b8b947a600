// What a run needs, and how it all goes away again.
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startArrivals } from './load/arrivals.js'
import { startDatabase } from './rows/database.js'
import { startGateway } from './contenders/gateway.js'
import { startReadyMade } from './rivals/readyMade.js'
import { pgbenchVersion } from './rivals/pgbench.js'
import { straightConnections } from './rivals/straight.js'
import { startPayProvider } from './endpoints/payProvider.js'
import { startSimulators } from './endpoints/simulators.js'
import { startProviders } from './endpoints/providers.js'
import { startReceiver } from './endpoints/receiver.js'
import { startChanging } from './load/changes.js'
import { thisVersion } from './version.js'
import { startWorker } from './load/worker.js'

const cleanups = []

const kept = child => {
  cleanups.push(child.stop)
  return child
}

// `former`: a version to measure beside this one, if any. `profiles`: a folder for CPU profiles of the gateways, if any.
export async function setUp({ noPgbench, former, profiles }) {
  await thisVersion.build()
  await former?.build()
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'))
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }))
  const server = await startDatabase(join(folder, 'data'))
  cleanups.push(server.stop)
  const load = startWorker('load/requestsProcess.js')
  const pgbench = noPgbench ? undefined : pgbenchVersion()
  const loop = pgbench ? undefined : startWorker('rivals/straightProcess.js')
  cleanups.push(load.stop, () => loop?.stop())
  const shipped = []
  const gateways = []
  return {
    folder,
    former,
    server,
    load,
    loop, // undefined where pgbench does its work
    shipped, // the gateways that run with no settings but the defaults
    async startGateway(database, env) {
      const gateway = await startGateway(database, env, profiles && resolve(profiles))
      cleanups.push(gateway.stop)
      gateways.push(gateway)
      if (!env) shipped.push(gateway)
      return gateway
    },
    // For sections that start their own: even an idle gateway polls for work now and then.
    stopGateways: () => Promise.all(gateways.map(gateway => gateway.stop())),
    startOpenLoop: () => kept(startWorker('load/openLoopProcess.js')),
    startVisits: () => kept(startWorker('load/visitsProcess.js')),
    startArrivals: () => kept(startArrivals()),
    startCustomers: () => kept(startWorker('load/customersProcess.js')),
    startCancellers: () => kept(startWorker('load/cancellersProcess.js')),
    startShops: () => kept(startWorker('load/shopsProcess.js')),
    startReceiver: () => kept(startReceiver()),
    startPayProvider: async () => kept(await startPayProvider()),
    startSimulators: async () => kept(await startSimulators()),
    startProviders: async () => kept(await startProviders()),
    startChanging: (...given) => kept(startChanging(...given)),
    async startReadyMade(page, merchant) {
      const ready = await startReadyMade(page, merchant)
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
