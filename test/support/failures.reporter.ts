import { readFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'

type Times = { all: number; stolen: number }

const before = times()

// What failed, a line each, below all that is said of it: the end is what is left of a long output. And how much of the
// machine's time its host gave to others meanwhile: a test that waited for something may not have got the time.
export const failures: Reporter = {
  onTestRunEnd(modules, errors) {
    const lines = [
      ...modules.flatMap(linesOf),
      ...errors.map(({ message }) => `outside of a test: ${line(message)}`),
    ]
    if (lines.length === 0) return
    console.error(
      ['', `Failed (${stolenShare()} of the machine's time was stolen by its host):`, ...lines, ''].join(
        '\n',
      ),
    )
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
