import type { Tally } from './crowd.ts'
import type { Stretch } from './honest.ts'

export type Row = { what: string; tally: Tally; undisturbed: Stretch; beside: Stretch; rss: number }

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

// The table at the end of the run. Its times are for people to read; no test compares them.
export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(({ what, tally, undisturbed, beside, rss }) => [
    what,
    String(tally.sent),
    answersOf(tally),
    String(beside.times.length),
    pair(undisturbed),
    pair(beside),
    (rss / 2 ** 20).toFixed(0),
    beside.faults.length > 0 ? `${beside.faults.length} FAULTS` : '',
  ])
  const head = [
    'attack',
    'sent',
    'answers',
    'honest',
    'alone p50 / p99 ms',
    'beside p50 / p99 ms',
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
