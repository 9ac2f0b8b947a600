import { expect, test } from 'vitest'
import { closingLines, decide, othersShare, type Sample, worstShare } from './decision.ts'

// Two cores, a sample every second. Others have the given share of each second.
function machine(...shares: number[]): Sample[] {
  const samples: Sample[] = [{ at: 0, allMs: 0, othersMs: 0 }]
  for (const share of shares) {
    const last = samples.at(-1) as Sample
    samples.push({ at: last.at + 1000, allMs: last.allMs + 2000, othersMs: last.othersMs + 2000 * share })
  }
  return samples
}
const run = (file: string, failed: boolean, from = 0, until = 2000) => ({ file, failed, from, until })

for (const [words, shares, from, until, share] of [
  ['nobody else', [0, 0], 0, 2000, 0],
  ['half of one second', [0, 1], 0, 2000, 0.5],
  ['only the time of the file counts', [1, 0, 0, 1], 1000, 3000, 0],
  ['a moment between two samples counts both', [0, 1, 0], 1200, 1800, 1],
  ['a file that ran longer than it was measured', [0.4], 0, 5000, 0.4],
] as const) {
  test(`the share of others: ${words}`, () =>
    expect(othersShare(machine(...shares), from, until)).toBeCloseTo(share))
}

test('the share of others is unknown where it was not measured', () => {
  expect(othersShare([], 0, 1000)).toBeUndefined()
  expect(othersShare(machine(), 0, 1000)).toBeUndefined()
})

const quiet = (seconds: number) => Array<number>(seconds).fill(0)
for (const [words, shares, share] of [
  ['a quiet minute', quiet(60), 0],
  ['ten bad seconds of a quiet minute', [...quiet(20), ...Array<number>(10).fill(0.8), ...quiet(30)], 0.8],
  ['five of them', [...quiet(20), ...Array<number>(5).fill(0.8), ...quiet(35)], 0.4],
  ['one second, which is no starvation', [...quiet(20), 1, ...quiet(39)], 0.1],
] as const)
  test(`the worst ten seconds: ${words}`, () =>
    expect(worstShare(machine(...shares), 0, shares.length * 1000)).toBeCloseTo(share))

test('a machine that stood still was not quiet', () => {
  const samples = machine(...quiet(20)).map(one => (one.at > 8000 ? { ...one, at: one.at + 5000 } : one))
  expect(worstShare(samples, 0, 25_000)).toBe(1)
  expect(worstShare(samples, 16_000, 25_000)).toBe(0)
})

for (const [words, shares, again, wrong] of [
  ['a quiet machine: the file is wrong', [0, 0], [], ['a']],
  ['30 % is not starved yet', [0.3, 0.3], [], ['a']],
  ['over 30 %: once more', [0.31, 0.31], ['a'], []],
] as const) {
  test(`a failed file, ${words}`, () => {
    const decided = decide([run('a', true), run('b', false)], machine(...shares))
    expect(decided.again.map(({ file }) => file)).toEqual(again)
    expect(decided.wrong.map(({ file }) => file)).toEqual(wrong)
  })
}

test('each file is judged by its own time', () => {
  const samples = machine(0.9, 0.9, 0, 0)
  const { again, wrong } = decide([run('early', true, 0, 2000), run('late', true, 2000, 4000)], samples)
  expect([again.map(({ file }) => file), wrong.map(({ file }) => file)]).toEqual([['early'], ['late']])
})

test('a file whose time was not measured is wrong', () => {
  expect(decide([run('a', true)], [])).toEqual({ again: [], wrong: [{ file: 'a', share: undefined }] })
})

test('when nearly everything fails, nothing runs again', () => {
  const all = Array.from({ length: 9 }, (_, n) => run(`${n}`, true))
  expect(decide(all, machine(0.9, 0.9)).again).toEqual([])
  expect(decide(all.slice(1), machine(0.9, 0.9)).again).toHaveLength(8)
})

test('the last lines name what ran again and what failed', () => {
  const repeated = [
    { file: 'a', share: 0.54, passed: true },
    { file: 'b', share: 0.41, passed: false },
  ]
  expect(closingLines([{ file: 'c', share: 0.02 }], repeated)).toEqual([
    'Run once more alone, because others had over 30 % of the machine for ten seconds:',
    '  a (54 %): passed',
    '  b (41 %): failed again',
    'Failed:',
    '  c (others had 2 %)',
  ])
})
