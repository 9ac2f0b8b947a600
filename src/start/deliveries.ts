import type { Logger } from 'pino'
import { countDeliveries } from '../actions/notifications/countDeliveries.ts'
import type { Config } from '../config.ts'
import type { Pause } from '../core/databaseClock.ts'
import type { LocalWorkers } from '../runtime/localWorkers.ts'
import { createOutbound } from '../net/outbound.ts'
import { gaugeDeliveries, watchDeliveries } from '../observe/deliveries.ts'
import type { Metrics } from '../observe/metrics.ts'
import { createSignerCache } from '../workers/deliveries/signerCache.ts'
import { startDeliveries } from '../workers/deliveries/worker.ts'
import type { Leases } from '../workers/node.ts'
import type { OpenDatabase } from './database.ts'
import { merchantEgress } from './egress.ts'

export type OpenDeliveries = { wake(): void; stop(): Promise<void> }
type DeliveriesDeps = {
  localWorkers: LocalWorkers
  clock(): Date
  pause?: Pause
  leases?: Leases
  left?(): void // some were committed here that were not handed over
  metrics: Metrics
  log: Logger
}

// All that it takes to notify merchants: the way out of the house, what signs, and who carries.
export function openDeliveries(
  config: Config,
  records: Pick<OpenDatabase, 'db' | 'masterKeys' | 'embedded'>,
  { localWorkers, clock, pause, leases, left, metrics, log }: DeliveriesDeps,
): OpenDeliveries {
  const { masterKeys, embedded } = records
  const db = records.db.withQuota('deliver')
  const isOwnMachine = embedded && config.isForThisMachineOnly
  const outbound = createOutbound(merchantEgress(config))
  const deliveries = startDeliveries({
    db,
    clock,
    pause,
    leases,
    outbound,
    random: Math.random,
    signers: createSignerCache(db, masterKeys, clock),
    // By default a developer's own machine may be notified, and nobody else's inside: not that of a gateway which
    // others reach.
    loopback: mode => config.TOLLGATE_EGRESS_LOOPBACK ?? (isOwnMachine && mode === 'test'),
    watch: watchDeliveries(metrics, log),
  })
  gaugeDeliveries(metrics, deliveries, () => countDeliveries(records.db, clock()))
  localWorkers.dispatch = { reserve: deliveries.reserve, undispatched: left ?? deliveries.wake }
  return {
    wake: deliveries.wake,
    async stop() {
      localWorkers.dispatch = undefined
      await deliveries.stop()
      await outbound.close()
    },
  }
}
