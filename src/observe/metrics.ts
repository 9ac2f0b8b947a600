import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Runtime } from '../runtime/runtime.ts'

// Names follow the Prometheus conventions: base units, `_total` for counters.
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  return {
    registry,
    requests: new Counter({
      name: 'tollgate_http_requests_total',
      help: 'HTTP requests, by route, method and status.',
      labelNames: ['route', 'method', 'status'],
      registers,
    }),
    seconds: new Histogram({
      name: 'tollgate_http_request_seconds',
      help: 'Time from the first byte of a request to its response, by route.',
      labelNames: ['route'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
    refusals: new Counter({
      name: 'tollgate_refusals_total',
      help: 'Requests refused, by error code.',
      labelNames: ['code'],
      registers,
    }),
    batchRows: new Histogram({
      name: 'tollgate_batch_rows',
      help: 'Requests that shared one SQL statement, by kind.',
      labelNames: ['kind'],
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
      registers,
    }),
    attempts: new Counter({
      name: 'tollgate_attempts_total',
      help: 'State changes of attempts, by payment method and new state.',
      labelNames: ['payment_method', 'state'],
      registers,
    }),
    webhooks: new Counter({
      name: 'tollgate_webhooks_total',
      help: 'Webhooks of providers, by account and outcome.',
      labelNames: ['account', 'outcome'],
      registers,
    }),
    alarms: new Counter({
      name: 'tollgate_alarms_total',
      help: 'Tasks and account failures that need an operator, by kind: see tollgate task list.',
      labelNames: ['kind'],
      registers,
    }),
  }
}

export type Metrics = ReturnType<typeof createMetrics>

// Gauges that are read at each scrape.
export function watchRuntime(metrics: Metrics, runtime: Runtime) {
  addGauge(metrics, 'tollgate_pool_connections', 'Database connections, by state.', 'state', runtime.db.stats)
  addGauge(
    metrics,
    'tollgate_queue_depth',
    'Requests that wait for a SQL statement, by queue.',
    'queue',
    () => ({
      initiation: runtime.payments.depth(),
      status: runtime.lookups.depth(),
      checkout: runtime.checkouts.depth(),
      merchant: runtime.callers.depth(),
    }),
  )
}

function addGauge(
  metrics: Metrics,
  name: string,
  help: string,
  label: string,
  read: () => Record<string, number>,
) {
  const gauge = new Gauge({
    name,
    help,
    labelNames: [label],
    registers: [metrics.registry],
    collect() {
      for (const [key, value] of Object.entries(read())) gauge.set({ [label]: key }, value)
    },
  })
}
