import type { Logger } from 'pino'
import type { DeliveryCounts } from '../actions/notifications/findNotifications.ts'
import { results } from '../core/notification/delivery.ts'
import type { Dispatcher, DispatcherWatch } from '../workers/deliveries/dispatcher.ts'
import { type Metrics, sharedReading } from './metrics.ts'

// Metrics and log lines of deliveries.
export function watchDeliveries({ counter, histogram }: Metrics, log: Logger): DispatcherWatch {
  const tries = counter(
    'tollgate_delivery_tries_total',
    'Tries of deliveries to merchants, by mode and result.',
    ['mode', 'result'],
    results.flatMap(result => [
      { mode: 'test', result },
      { mode: 'live', result },
    ]),
  )
  const firstByte = histogram(
    'tollgate_delivery_first_byte_seconds',
    'Time from the commit of a status change to the first byte of its notification.',
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600],
  )
  const exhausted = counter(
    'tollgate_deliveries_exhausted_total',
    'Deliveries given up after 24 hours: tollgate notification list --state exhausted shows them.',
  )
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

// A lane has a label only while its breaker is not closed, so that the number of labels stays small.
export function gaugeDeliveries(
  { gauge }: Metrics,
  { inFlight, breakers }: Pick<Dispatcher, 'inFlight' | 'breakers'>,
  count: () => Promise<DeliveryCounts>,
) {
  const counts = sharedReading(count)
  gauge(
    'tollgate_deliveries',
    'Deliveries that are due, parked behind their lane, and in flight from this node.',
    ['of'],
    async deliveries => {
      const { due, parked } = await counts()
      deliveries.set({ of: 'due' }, due)
      deliveries.set({ of: 'parked' }, parked)
      deliveries.set({ of: 'in_flight' }, inFlight())
    },
  )
  gauge('tollgate_delivery_oldest_due_seconds', 'Age of the oldest delivery that is due.', [], async age =>
    age.set((await counts()).oldest_due_seconds),
  )
  gauge(
    'tollgate_lane_breaker',
    'Lanes of this node whose breaker is not closed.',
    ['merchant_id', 'lane', 'state'],
    lanes => {
      lanes.reset()
      for (const { merchant_id, lane, state } of breakers()) lanes.set({ merchant_id, lane, state }, 1)
    },
  )
}
