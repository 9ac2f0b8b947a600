// Runs the long tests. Their deadlines cannot be met on a starved machine, so a file that failed while other processes
// used much of the CPU runs once more, alone. The last lines name it, and a second failure is a failure.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testSeed } from '../random.ts'
import { closingLines, decide, type FileRun, type Repeated } from './decision.ts'
import { watchMachine } from './machine.ts'

// The JSON that `filesReporter` writes; `errors` counts errors outside of every file.
export type Report = { runs: FileRun[]; errors: number }
type Outcome = { code: number; report: Report | undefined }

const vitest = 'node_modules/vitest/vitest.mjs'

// Returns the exit code. The working directory is the root of the repository, as with npm.
export async function main(args: string[]): Promise<number> {
  const stop = new AbortController()
  // The terminal sends these to the tests as well; this process waits until they have ended.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stop.abort())
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-proof-'))
  try {
    return await prove(args, folder, stop.signal)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function prove(args: string[], folder: string, stopped: AbortSignal): Promise<number> {
  const machine = watchMachine()
  const { code, report } = await runVitest(args, join(folder, 'first.json'))
  machine.stop()
  if (code === 0 || !report || stopped.aborted) return code
  const { again, wrong } = decide(report.runs, machine.samples)
  const repeated: Repeated[] = []
  for (const each of again) {
    console.error(`\nOnce more, alone: ${each.file}\n`)
    const second = await runVitest([each.file, '--maxWorkers', '1'], join(folder, 'second.json'))
    repeated.push({ ...each, passed: second.code === 0 })
    if (stopped.aborted) return code
  }
  console.error(['', ...closingLines(wrong, repeated), ''].join('\n'))
  // Repeating a file does not explain an error outside of every file.
  const isExplained = report.errors === 0 && repeated.length > 0
  return isExplained && wrong.length === 0 && repeated.every(({ passed }) => passed) ? 0 : code
}

async function runVitest(args: string[], file: string): Promise<Outcome> {
  const flags = ['run', '--config', 'vitest.proof.config.ts', ...args]
  const child = spawn(process.execPath, [vitest, ...flags], {
    stdio: 'inherit',
    env: { ...process.env, PROOF_REPORT: file, TEST_SEED: String(testSeed) }, // the same numbers in a repeated file
  })
  const [code] = await once(child, 'exit')
  return { code: code ?? 1, report: readReport(file) }
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined // the run ended before it was written
  }
}
