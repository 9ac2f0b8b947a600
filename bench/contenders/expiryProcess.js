// The workers of a node that poll and expire, in a separate process: nothing delivers the notifications that they write.
import { versionAt } from '../version.js'

process.once('message', (/** @type {any} */ job) => void begin(job))
process.on('disconnect', () => process.exit()) // the parent is gone

async function begin({ folder, env }) {
  const version = versionAt(folder)
  const [{ readConfig }, { openDatabase }, { providerAccountsOf }, { startWorkers }] = await version.load(
    'config',
    'start/database',
    'runtime/providerAccounts',
    'workers/payments',
  )
  const [{ createDecisions }, { createCallbackBatcher }] = await version.load(
    'actions/payments/decisions',
    'runtime/callbackBatcher',
  )
  const records = await openDatabase(readConfig(env), 'gateway')
  const localWorkers = {}
  const asking = {
    db: records.db,
    localWorkers,
    decisions: createDecisions(records.db, localWorkers),
    callbacks: createCallbackBatcher(records.db, localWorkers),
    providerAccounts: providerAccountsOf([]),
    timeZone: 'UTC',
    baseUrl: () => 'http://localhost',
    installation: () => /** @type {const} */ ({ is: 'original' }),
    clock: () => new Date(),
    watch() {},
    wake() {},
    traces: {
      ofPath: async () => undefined,
      inPayment: (_key, _name, _options, work) => work(/** @type {any} */ ({ setAttribute() {} })),
    },
  }
  const workers = startWorkers(asking, { trouble: error => console.error(error) })
  process.once('message', () => void stop(workers, records))
  process.send?.('at work')
}

async function stop(workers, records) {
  await workers.stop()
  await records.close()
  process.exit()
}
