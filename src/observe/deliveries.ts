import type { Logger } from 'pino'
import { Counter, Gauge, Histogram } from 'prom-client'
import type { DeliveryCounts } from '../actions/notifications/findNotifications.ts'
import type { Dispatcher, DispatcherWatch } from '../workers/deliveries/dispatcher.ts'
import type { Metrics } from './metrics.ts'

// Metrics and log lines of deliveries.
export function watchDeliveries({ registry }: Metrics, log: Logger): DispatcherWatch {
  const registers = [registry]
  const tries = new Counter({
    name: 'tollgate_delivery_tries_total',
    help: 'Tries of deliveries to merchants, by mode and result.',
    labelNames: ['mode', 'result'],
    registers,
  })
  const firstByte = new Histogram({
    name: 'tollgate_delivery_first_byte_seconds',
    help: 'Time from the commit of a status change to the first byte of its notification.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600],
    registers,
  })
  const exhausted = new Counter({
    name: 'tollgate_deliveries_exhausted_total',
    help: 'Deliveries given up after 24 hours: tollgate notification list --state exhausted shows them.',
    registers,
  })
  return {
    tried({ mode, result, toFirstByteMs }) {
      tries.labels(mode, result).inc()
      if (toFirstByteMs !== null) firstByte.observe(Math.max(0, toFirstByteMs) / 1000)
    },
    exhausted(notification_id) {
      exhausted.inc()
      log.warn({ notification_id }, 'a notification could not be delivered')
    },
    passwordWithheld: notification_id =>
      log.warn(
        { notification_id },
        'a notification was sent without the password: its address is not on an origin of the merchant',
      ),
    trouble: error => log.warn({ error: String(error) }, 'error in the delivery worker; it will retry'),
  }
}

// Metrics that are read at each scrape. A lane has a label only while its breaker is not closed, so that the number of
// labels stays small.
export function gaugeDeliveries(
  { registry }: Metrics,
  { inFlight, breakers }: Pick<Dispatcher, 'inFlight' | 'breakers'>,
  count: () => Promise<DeliveryCounts>,
) {
  const registers = [registry]
  const deliveries = new Gauge({
    name: 'tollgate_deliveries',
    help: 'Deliveries that are due, parked behind their lane, and in flight from this node.',
    labelNames: ['of'],
    registers,
    async collect() {
      const { due, parked, oldest_due_seconds } = await count()
      this.set({ of: 'due' }, due)
      this.set({ of: 'parked' }, parked)
      this.set({ of: 'in_flight' }, inFlight())
      oldest.set(oldest_due_seconds)
    },
  })
  const oldest = new Gauge({
    name: 'tollgate_delivery_oldest_due_seconds',
    help: 'Age of the oldest delivery that is due.',
    registers,
  })
  const lanes = new Gauge({
    name: 'tollgate_lane_breaker',
    help: 'Lanes of this node whose breaker is not closed.',
    labelNames: ['merchant_id', 'lane', 'state'],
    registers,
    collect() {
      this.reset()
      for (const { merchant_id, lane, state } of breakers()) this.set({ merchant_id, lane, state }, 1)
    },
  })
  return [deliveries, oldest, lanes]
}
