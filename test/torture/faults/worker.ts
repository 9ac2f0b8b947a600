import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault } from './fault.ts'

const mostUnserved = 0.1 // a starved machine answers some too late

// A worker is killed and returns. Merchants who live on another worker are served meanwhile.
export const lostWorker: Fault = {
  name: 'one Citus worker gone',
  needs: ({ database: { citus } }) => (citus ? undefined : '--database citus: a coordinator and its workers'),
  async inject({ installation, isLong, chance, say, failed, servesAgain, load }) {
    const { database, nodes, shops } = installation
    if (!database.citus) return
    const { workers, workerOf } = database.citus
    const worker = chance.pick(workers)
    const places = await Promise.all(shops.map(({ provider }) => workerOf(provider.merchant_id)))
    const others = shops.filter((_, at) => places[at] !== worker)
    say(`kills ${worker.name}, on which ${shops.length - others.length} of ${shops.length} merchants live`)
    await worker.kill()
    try {
      await servesAgain('serves merchants of other workers', nodes, others)
      const from = performance.now()
      await sleep(isLong ? 20_000 : 6000)
      const merchants = new Set(others.map(({ provider }) => provider.merchant_id))
      const ended = load.sent.filter(
        ({ at, ms, merchant_id }) => at > from && ms > 0 && merchants.has(merchant_id),
      )
      const unserved = ended.filter(({ http }) => http === 0 || http >= 500)
      say(`${ended.length} requests of merchants of other workers, ${unserved.length} of them not served`)
      if (ended.length === 0 || unserved.length > ended.length * mostUnserved)
        failed(
          `${worker.name} was gone, and ${unserved.length} of ${ended.length} requests of merchants of other workers were not served`,
        )
    } finally {
      await worker.start()
    }
    await servesAgain('serves after the database accepts writes')
  },
}
