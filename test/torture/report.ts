import { table } from '../../src/cli/terminal.ts'
import { groupBy, type Violation } from './checker.ts'
import type { Evidence } from './evidence.ts'
import { outageAnswerMs, recoveries } from './faults/fault.ts'
import type { Load } from './load.ts'
import type { Measured } from './rounds.ts'

export type Totals = {
  evidence: Pick<Evidence, 'payments' | 'orders' | 'received'>
  load: Pick<Load, 'sales' | 'sent'>
  rounds: ReadonlyMap<string, number> // by fault
  measured: readonly Measured[]
}

const titles = [
  'fault',
  'rounds',
  'requests',
  'acknowledged',
  'refused',
  'unanswered',
  'slowest answer',
  'payments',
  'charges',
  'refunds',
  'notifications',
  'duplicates',
]

// One line for each fault: what was requested while it was there, and what became of those payments.
export function faultTable({ evidence, load, rounds }: Totals): string {
  const during = new Map(load.sales.map(sale => [sale.invoice_id, sale.during]))
  const faultOf = new Map(
    evidence.payments.map(({ payment }) => [payment.tx_reference, during.get(payment.invoice_id) ?? '']),
  )
  const attemptsOf = new Map(
    evidence.payments.flatMap(({ payment, attempts }) =>
      attempts.map(({ attempt_id }) => [attempt_id, faultOf.get(payment.tx_reference)] as const),
    ),
  )
  const names = [...rounds.keys()]
  const rows = names.map(name => {
    const sent = load.sent.filter(one => one.during === name)
    const orders = evidence.orders.filter(({ reference }) => attemptsOf.get(reference) === name)
    const received = evidence.received.filter(({ id }) => faultOf.get(id.replace(/-N\d+$/, '')) === name)
    const distinct = new Set(received.map(({ id }) => id)).size
    const answered = sent.filter(({ http }) => http > 0)
    return [
      name,
      rounds.get(name),
      sent.length,
      sent.filter(({ http }) => http > 0 && http < 400).length,
      sent.filter(({ http }) => http >= 400).length,
      sent.length - answered.length,
      seconds(Math.max(0, ...answered.map(({ ms }) => ms))),
      evidence.payments.filter(({ payment }) => faultOf.get(payment.tx_reference) === name).length,
      orders.reduce((sum, { charges }) => sum + charges, 0),
      orders.reduce((sum, { refunds }) => sum + refunds.length, 0),
      distinct,
      received.length - distinct,
    ]
  })
  return table(titles, rows, titles.slice(1))
}

// How long after a fault each node serves again, and how long an outage kept requests waiting for the answer that they have
// to be repeated. A request without an answer counts if it waited for one; a killed node resets its connections at once.
export function timesTable({ load, measured, rounds }: Totals): string {
  const outages = load.sent
    .filter(({ during }) => rounds.has(during))
    .filter(({ http, ms }) => http >= 500 || (http === 0 && ms > outageAnswerMs))
    .map(({ during, ms }) => ({ fault: during, what: 'outage answered', ms, target: outageAnswerMs }))
  const all = [...measured.map(one => ({ ...one, target: recoveries[one.what] })), ...outages]
  const groups = groupBy(all, ({ fault, what }) => `${fault}|${what}`)
  const rows = [...groups.values()].map(group => {
    const [first] = group
    const times = group.map(({ ms }) => ms).toSorted((a, b) => a - b)
    return [
      first?.fault,
      first?.what,
      times.length,
      seconds(times[Math.floor(times.length / 2)] ?? 0),
      seconds(times.at(-1) ?? 0),
      seconds(first?.target ?? 0),
      `${group.filter(({ ms, target }) => ms <= target).length} of ${times.length}`,
    ]
  })
  const columns = ['fault', 'time', 'times', 'median', 'slowest', 'target', 'in time']
  return table(columns, rows, columns.slice(2))
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`

export function violationText(violations: readonly Violation[], most = 40): string {
  const lines = violations.slice(0, most).map(({ kind, text }) => `  ${kind}: ${text}`)
  return [...lines, ...(violations.length > most ? [`  and ${violations.length - most} more`] : [])].join(
    '\n',
  )
}

// The three that must be zero, and all others.
export function verdict(violations: readonly Violation[]): string {
  const count = (...kinds: string[]) => violations.filter(({ kind }) => kinds.includes(kind)).length
  const named = ['lost', 'double charge', 'illegal history']
  return `lost ${count('lost')}, double charges ${count('double charge')}, illegal histories ${count('illegal history')}, others ${
    violations.filter(({ kind }) => !named.includes(kind)).length
  }`
}
