import { readFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'
import { testSeed } from '../random.ts'

type Times = { all: number; stolen: number }

const before = times()

// Lists the failures, one line each, at the end of the output, because the end is what remains of a long log. The first
// line says how much CPU time the hypervisor gave to other machines, which explains timeouts; the last line says how to
// repeat the run with the same random numbers.
export const failures: Reporter = {
  onTestRunEnd(modules, errors) {
    const lines = [
      ...modules.flatMap(linesOf),
      ...errors.map(({ message }) => `outside of a test: ${line(message)}`),
    ]
    if (lines.length === 0) return
    const first = `Failed (${stolenShare()} of the machine's time was stolen by its host):`
    console.error(['', first, ...lines, `Random numbers: TEST_SEED=${testSeed} repeats them.`, ''].join('\n'))
  },
}

function linesOf(module: TestModule): string[] {
  const failed = [...module.children.allTests('failed')].map(test => ({
    name: test.fullName,
    message: test.result().errors?.[0]?.message,
  }))
  const own = module.errors().map(({ message }) => ({ name: 'the file itself', message }))
  return [...failed, ...own].map(
    ({ name, message }) => `${module.relativeModuleId}: ${name}: ${line(message)}`,
  )
}

const line = (message = '') => message.split('\n', 1).join('').slice(0, 200)

function times(): Times | undefined {
  try {
    const cpu = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.split(/ +/).slice(1).map(Number) ?? []
    return { all: cpu.slice(0, 8).reduce((sum, ticks) => sum + ticks, 0), stolen: cpu[7] ?? 0 }
  } catch {
    return undefined // not Linux
  }
}

function stolenShare() {
  const now = times()
  if (!before || !now) return 'an unknown share'
  return `${Math.round((100 * (now.stolen - before.stolen)) / Math.max(1, now.all - before.all))} %`
}
