import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { TaskCount } from '../actions/payments/taskCounts.ts'
import { codes } from '../core/interface/refusal.ts'
import { eventKinds, taskKinds } from '../core/payment/change.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { mergeMetrics } from './mergeMetrics.ts'

export const mostAccounts = 1000 // with their own label; all others share the label `others`

// Accounts whose counters with many labels exist before they are counted: each has 16 series for each payment method.
const mostInitialAccounts = 100
const statesIn = (prefix: 'attempt_' | 'refund_') =>
  eventKinds.filter(kind => kind.startsWith(prefix)).map(kind => kind.slice(prefix.length))

const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const batchSizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]

// The processes that share the port. One of them gets the scrape, and answers with the metrics of all.
export type MetricsGroup = {
  process: number // the number of this process, from 1; the one that replaces it has the same
  shareMetrics(read: () => Promise<string>): void
  metricsOfOthers(): Promise<readonly string[]>
}

// Names follow the Prometheus conventions: base units, `_total` for counters.
export function createMetrics(group?: MetricsGroup) {
  const registry = new Registry()
  // Each process has its own series. A sum over all of them would fall when one is restarted, which Prometheus takes for
  // a restart of all.
  if (group) registry.setDefaultLabels({ process: String(group.process) })
  group?.shareMetrics(() => registry.metrics())
  collectDefaultMetrics({ register: registry })
  const { counter, histogram, gauge } = declareIn(registry)
  let accounts: (() => readonly MeasuredAccount[]) | undefined
  const measured = () => accounts?.().slice(0, mostAccounts) ?? []
  const initial = () => measured().slice(0, mostInitialAccounts)
  return {
    registry,
    text: async () =>
      group
        ? mergeMetrics(
            await Promise.all([registry.metrics(), group.metricsOfOthers()]).then(all => all.flat()),
          )
        : registry.metrics(),
    counter,
    histogram,
    gauge,
    requests: counter('tollgate_http_requests_total', 'HTTP requests, by route, method and status.', [
      'route',
      'method',
      'status',
    ]),
    seconds: histogram(
      'tollgate_http_request_seconds',
      'Time from the first byte of a request to its response, by route.',
      requestSeconds,
      ['route'],
    ),
    refusals: counter(
      'tollgate_refusals_total',
      'Requests refused, by error code.',
      ['code'],
      codes.map(code => ({ code })),
    ),
    batchRows: histogram(
      'tollgate_batch_rows',
      'Requests that shared one SQL statement, by kind.',
      batchSizes,
      ['kind'],
    ),
    attempts: counter(
      'tollgate_attempts_total',
      'State changes of attempts, by payment method and new state.',
      ['payment_method', 'state'],
      () =>
        [...new Set(measured().flatMap(({ methods }) => methods))].flatMap(payment_method =>
          statesIn('attempt_').map(state => ({ payment_method, state })),
        ),
    ),
    refunds: counter(
      'tollgate_refunds_total',
      'State changes of refunds, by provider account and new state.',
      ['provider_account', 'state'],
      () =>
        initial().flatMap(({ account }) =>
          statesIn('refund_').map(state => ({ provider_account: account, state })),
        ),
    ),
    webhooks: counter(
      'tollgate_webhooks_total',
      'Webhooks of providers, by account and outcome.',
      ['account', 'outcome'],
      () => [
        { account: 'none', outcome: 'no_such_account' },
        ...measured().flatMap(({ account }) => [
          { account, outcome: 'accepted' },
          { account, outcome: 'forged' },
        ]),
      ],
    ),
    unknownCodes: counter(
      'tollgate_provider_unknown_codes_total',
      'Answers with an unknown code. tollgate provider status shows the codes.',
      ['account', 'payment_method'],
      () =>
        measured().flatMap(({ account, methods }) =>
          methods.map(payment_method => ({ account, payment_method })),
        ),
    ),
    initial,
    measureAccounts: (list: () => readonly MeasuredAccount[]) => void (accounts = list),
    alarms: counter(
      'tollgate_alarms_total',
      'Tasks and account failures that need an operator, by kind: see tollgate task list.',
      ['kind'],
      [...Object.keys(taskKinds), 'account_trouble'].map(kind => ({ kind })),
    ),
  }
}

export type Metrics = ReturnType<typeof createMetrics>
export type MeasuredAccount = { account: string; methods: readonly string[] }

const declareIn = (registry: Registry) => ({
  // `known` are the labels that exist before they are counted, at 0: the first increase of a counter that appears with it is
  // invisible to increase() and rate(), so no alert would fire.
  counter<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
    known: readonly Record<Label, string>[] | (() => readonly Record<Label, string>[]) = [],
  ) {
    const listed = typeof known === 'function' ? known : () => known
    return new Counter({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        for (const labels of listed()) this.inc(labels, 0)
      },
    })
  },

  histogram: <Label extends string>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: readonly Label[] = [],
  ) => new Histogram({ name, help, buckets, labelNames, registers: [registry] }),

  // `collect` is called at each scrape. While the database does not answer, a gauge that reads it has no value, and the
  // others are there.
  gauge: <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    collect: (gauge: Gauge<Label>) => void | Promise<void>,
  ) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      async collect() {
        try {
          await within(collectMs, collect(this))
        } catch {
          if (labelNames.length > 0) this.reset()
          else this.remove()
        }
      },
    }),
})

const collectMs = 2000

async function within<T>(ms: number, work: T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('The database did not answer in time.')), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

// A scrape collects all gauges at the same time, and those with values of one query share it.
export function sharedReading<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => (running ??= read().finally(() => (running = undefined)))
}

export function gaugeTasks({ gauge }: Metrics, count: () => Promise<readonly TaskCount[]>) {
  const counts = sharedReading(count)
  gauge('tollgate_tasks_open', 'Open tasks, by kind: see tollgate task list.', ['kind'], async tasks => {
    const found = new Map((await counts()).map(({ kind, open }) => [kind, open]))
    for (const kind of Object.keys(taskKinds)) tasks.set({ kind }, found.get(kind) ?? 0)
  })
  gauge('tollgate_task_oldest_seconds', 'Age of the oldest open task.', [], async age =>
    age.set(Math.max(0, ...(await counts()).map(({ oldest_seconds }) => oldest_seconds))),
  )
}

// Merchants whose secrets this node cannot open.
export const gaugeSecrets = ({ gauge }: Metrics, count: () => Promise<number>) =>
  gauge(
    'tollgate_unreadable_secrets',
    'Merchants whose secrets this node cannot open: see tollgate task list.',
    [],
    async merchants => merchants.set(await count()),
  )

// A backup made by other means does not count, nor one that failed its verification.
export const gaugeBackups = ({ gauge }: Metrics, lastAt: () => Promise<Date | undefined>) =>
  gauge(
    'tollgate_backup_last_timestamp_seconds',
    'The time of the newest data in a backup of tollgate backup; 0 if there is none.',
    [],
    async time => time.set(((await lastAt())?.getTime() ?? 0) / 1000),
  )

export function watchRuntime({ gauge }: Metrics, runtime: Runtime) {
  gauge(
    'tollgate_database_up',
    '1 if the database answers, has the schema of this release and accepts writes.',
    [],
    async up => {
      const why = await within(collectMs - 100, runtime.whyNoDatabase()).catch(() => 'no answer')
      up.set(why === undefined ? 1 : 0)
    },
  )
  gauge('tollgate_pool_connections', 'Database connections, by state.', ['state'], connections => {
    for (const [state, count] of Object.entries(runtime.db.stats())) connections.set({ state }, count)
  })
  gauge(
    'tollgate_database_old_primaries',
    'Hosts of DATABASE_URL that are refused: they accept writes, and another host has a higher timeline.',
    [],
    hosts => hosts.set(runtime.db.oldPrimaries().length),
  )
  gauge('tollgate_queue_depth', 'Requests that wait for a SQL statement, by queue.', ['queue'], depth => {
    depth.set({ queue: 'initiation' }, runtime.payments.depth())
    depth.set({ queue: 'status' }, runtime.lookups.depth())
    depth.set({ queue: 'checkout' }, runtime.checkouts.depth())
    depth.set({ queue: 'merchant' }, runtime.callers.depth())
  })
}
