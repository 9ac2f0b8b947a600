import type { Heartbeats } from '../runtime/heartbeats.ts'
import type { Logger } from 'pino'
import { countDeliveries } from '../actions/notifications/findNotifications.ts'
import type { Config } from '../config.ts'
import type { Pause } from '../core/databaseClock.ts'
import type { GatedWork } from '../runtime/dueWork.ts'
import type { LocalWorkers } from '../runtime/localWorkers.ts'
import type { PaymentTraces } from '../runtime/paymentTraces.ts'
import { createOutbound } from '../net/outbound.ts'
import { gaugeDeliveries, watchDeliveries } from '../observe/deliveries.ts'
import type { Metrics } from '../observe/metrics.ts'
import { createSignerCache } from '../workers/deliveries/signerCache.ts'
import { startDeliveries } from '../workers/deliveries/worker.ts'
import type { Leases } from '../workers/node.ts'
import type { OpenDatabase } from './database.ts'
import { merchantEgress, notificationRules } from './egress.ts'

type DeliveriesDeps = {
  localWorkers: LocalWorkers
  clock(): Date
  pause?: Pause
  leases?: Leases
  work?: GatedWork
  heartbeats?: Heartbeats
  traces?: PaymentTraces
  undispatched?(): void // deliveries were committed here that were not dispatched inline
  metrics: Metrics
  log: Logger
}

// Builds the delivery of notifications: the HTTP client, the signer cache and the dispatcher.
export function openDeliveries(
  config: Config,
  database: Pick<OpenDatabase, 'db' | 'masterKeys' | 'embedded'>,
  {
    localWorkers,
    clock,
    pause,
    leases,
    work,
    heartbeats,
    traces,
    undispatched,
    metrics,
    log,
  }: DeliveriesDeps,
) {
  const db = database.db.withQuota('deliver')
  const rules = notificationRules(config, database.embedded)
  const outbound = createOutbound(merchantEgress(config))
  const signers = createSignerCache(db, database.masterKeys, clock)
  const deliveries = startDeliveries({
    db,
    clock,
    pause,
    leases,
    work,
    heartbeats,
    outbound,
    random: Math.random,
    signers,
    traces,
    loopback: mode => rules(mode).allowLoopback,
    watch: watchDeliveries(metrics, log),
  })
  gaugeDeliveries(metrics, deliveries, () => countDeliveries(database.db, clock()))
  localWorkers.dispatch = { reserve: deliveries.reserve, undispatched: undispatched ?? deliveries.wake }
  return {
    wake: deliveries.wake,
    usedSecrets: signers.used,
    async stop() {
      localWorkers.dispatch = undefined
      await deliveries.stop()
      await outbound.close()
    },
  }
}
