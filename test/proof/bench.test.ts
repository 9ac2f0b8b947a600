import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

type Section = { title: string; notMeasured?: string; rows?: unknown[] }

const longestMs = 1_800_000 // it takes a third of that on two cores that run other proofs too
const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-test-'))

// In its smallest form, with this version in the place of a former one: whether they run, not how fast they are.
test('every section of the bench runs', { timeout: longestMs + 60_000 }, async ({ onTestFinished }) => {
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const json = join(folder, 'figures.json')
  const flags = ['--smallest', '--beside', '.', '--json', json]
  const bench = spawn(process.execPath, ['bench/run.js', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: longestMs, // it cleans up after itself when it is told to end
  })
  let said = ''
  for (const stream of [bench.stdout, bench.stderr]) stream.on('data', chunk => (said += chunk))
  const [code] = await once(bench, 'close')
  expect(code, said.slice(-3000)).toBe(0)
  const { sections } = JSON.parse(readFileSync(json, 'utf8')) as { sections: Section[] }
  expect(sections.filter(({ notMeasured }) => notMeasured)).toEqual([])
  expect(sections.filter(({ rows = [] }) => rows.length === 0)).toEqual([])
  expect(sections.length).toBeGreaterThan(25)
})
