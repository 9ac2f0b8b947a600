import { Counter } from 'prom-client'
import type { Runtime } from '../runtime/runtime.ts'
import type { Metrics } from './metrics.ts'

// The kinds of work that share the connections. They exist at 0 from the start; others appear with their first statement.
const knownKinds = [
  'requests',
  'deliver',
  'ask',
  'refunds',
  'expire',
  'health',
  'ledger',
  'dashboard',
  'metrics',
]

type Work = ReturnType<Runtime['db']['workByKind']> extends ReadonlyMap<string, infer One> ? One : never

// Statements and transactions by kind of work, as counted since the start.
export function watchDatabase({ registry, gauge }: Metrics, db: Pick<Runtime['db'], 'workByKind'>) {
  const nothing: Work = { done: 0, failed: 0, seconds: 0, inUse: 0 }
  const byKind = (): [kind: string, work: Work][] => {
    const found = db.workByKind()
    return [...new Set([...knownKinds, ...found.keys()])].map(kind => [kind, found.get(kind) ?? nothing])
  }
  const counter = (name: string, help: string, valueOf: (work: Work) => number) =>
    new Counter({
      name,
      help,
      labelNames: ['kind'],
      registers: [registry],
      collect() {
        this.reset()
        for (const [kind, work] of byKind()) this.inc({ kind }, valueOf(work))
      },
    })
  counter(
    'tollgate_database_work_total',
    'Statements outside of a transaction, and transactions, by kind of work.',
    ({ done }) => done,
  )
  counter(
    'tollgate_database_work_failed_total',
    'Those of them that failed after all repetitions, by kind of work.',
    ({ failed }) => failed,
  )
  counter(
    'tollgate_database_work_seconds_total',
    'Their time, with the wait for a connection and repetitions, by kind of work.',
    ({ seconds }) => seconds,
  )
  gauge(
    'tollgate_database_work_in_progress',
    'Statements and transactions that use or wait for a connection, by kind of work.',
    ['kind'],
    inProgress => {
      for (const [kind, { inUse }] of byKind()) inProgress.set({ kind }, inUse)
    },
  )
}
