import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Runtime } from '../runtime/runtime.ts'

// What the operator watches. Names follow Prometheus: base units, `_total` for counters.
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  return {
    registry,
    requests: new Counter({
      name: 'tollgate_http_requests_total',
      help: 'Requests answered, by route, method and HTTP status.',
      labelNames: ['route', 'method', 'status'],
      registers,
    }),
    seconds: new Histogram({
      name: 'tollgate_http_request_seconds',
      help: 'Time from the first byte of a request to its answer, by route.',
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
      help: 'Requests that shared one statement, by kind.',
      labelNames: ['kind'],
      buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
      registers,
    }),
    attempts: new Counter({
      name: 'tollgate_attempts_total',
      help: 'Replies of providers about attempts, by payment method and outcome.',
      labelNames: ['payment_method', 'state'],
      registers,
    }),
    webhooks: new Counter({
      name: 'tollgate_webhooks_total',
      help: 'What came to the addresses of accounts at providers, by account and whether it was believed.',
      labelNames: ['account', 'outcome'],
      registers,
    }),
    alarms: new Counter({
      name: 'tollgate_alarms_total',
      help: 'Things that need a person, by kind: tollgate task list shows them.',
      labelNames: ['kind'],
      registers,
    }),
  }
}

export type Metrics = ReturnType<typeof createMetrics>

// Numbers that are read when somebody asks for them.
export function watchRuntime(metrics: Metrics, runtime: Runtime) {
  gaugeOf(metrics, 'tollgate_pool_connections', 'Database connections, by what they do.', runtime.db.stats)
  gaugeOf(metrics, 'tollgate_queue_depth', 'Callers that wait for a statement, by kind.', () => ({
    initiation: runtime.payments.depth(),
    status: runtime.lookups.depth(),
    checkout: runtime.checkouts.depth(),
    merchant: runtime.callers.depth(),
  }))
}

function gaugeOf(metrics: Metrics, name: string, help: string, read: () => Record<string, number>) {
  const gauge = new Gauge({
    name,
    help,
    labelNames: ['of'],
    registers: [metrics.registry],
    collect() {
      for (const [of, value] of Object.entries(read())) gauge.set({ of }, value)
    },
  })
}
