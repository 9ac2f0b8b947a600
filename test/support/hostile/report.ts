import type { Tally } from './crowd.ts'
import type { Stretch } from './honest.ts'
import type { Usage } from './watch.ts'

export type Row = {
  what: string
  tally: Tally
  undisturbed: Stretch
  beside: Stretch
  before: Usage // of the gateway, without an attack
  usage: Usage // of the gateway, during the attack
}

// The gateway's CPU time per hostile request or socket, without the share of the honest requests.
function cpuEach({ tally, undisturbed, beside, before, usage }: Row) {
  const ofHonest = (before.cpuMs / Math.max(1, undisturbed.times.length)) * beside.times.length
  return Math.max(0, usage.cpuMs - ofHonest) / Math.max(1, tally.sent)
}

const notesOn = ({ faults, repeated }: Stretch) =>
  [faults.length > 0 && `${faults.length} FAULTS`, repeated > 0 && `${repeated} repeated: machine starved`]
    .filter(Boolean)
    .join(', ')

const percentile = (times: readonly number[], part: number) => {
  const sorted = times.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}
const ms = (times: readonly number[], part: number) => percentile(times, part).toFixed(1)
const pair = (stretch: Stretch) => `${ms(stretch.times, 0.5)} / ${ms(stretch.times, 0.99)}`

const answersOf = ({ answers }: Tally) =>
  Object.entries(answers)
    .map(([what, count]) => `${what}: ${count}`)
    .join(', ') || 'none'

const sum = (numbers: readonly number[]) => numbers.reduce((total, n) => total + n, 0)

// The sum of all attacks.
function together(rows: readonly Row[]): Row {
  const all = (which: 'undisturbed' | 'beside'): Stretch => ({
    times: rows.flatMap(row => row[which].times),
    faults: rows.flatMap(row => row[which].faults),
    repeated: sum(rows.map(row => row[which].repeated)),
    journeys: [],
    ended: [],
  })
  const usages = (which: 'before' | 'usage'): Usage => ({
    rss: Math.max(0, ...rows.map(row => row[which].rss)),
    cpuMs: sum(rows.map(row => row[which].cpuMs)),
    elapsedMs: sum(rows.map(row => row[which].elapsedMs)),
  })
  return {
    what: 'all',
    tally: { sent: sum(rows.map(({ tally }) => tally.sent)), answers: {} },
    undisturbed: all('undisturbed'),
    beside: all('beside'),
    before: usages('before'),
    usage: usages('usage'),
  }
}

// Each fault once, with its count.
export function faultsIn({ faults }: Stretch): string[] {
  const counts = new Map<string, number>()
  for (const fault of faults) counts.set(fault, (counts.get(fault) ?? 0) + 1)
  return [...counts].map(([fault, count]) => `${count} x ${fault}`)
}

// The table at the end of the run. No test checks its times.
export function tableOf(rows: readonly Row[]): string {
  const lines = [...rows, together(rows)].map(row => [
    row.what,
    String(row.tally.sent),
    answersOf(row.tally),
    String(row.beside.times.length),
    pair(row.undisturbed),
    pair(row.beside),
    cpuEach(row).toFixed(2),
    (row.usage.rss / 2 ** 20).toFixed(0),
    notesOn(row.beside),
  ])
  const head = [
    'attack',
    'sent',
    'answers',
    'honest',
    'alone p50 / p99 ms',
    'beside p50 / p99 ms',
    'CPU ms each',
    'RSS MiB',
    '',
  ]
  const widths = head.map((_, at) => Math.max(...[head, ...lines].map(line => (line[at] as string).length)))
  const text = (line: string[]) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] as number))
      .join('  ')
      .trimEnd()
  return [head, ...lines].map(text).join('\n')
}
