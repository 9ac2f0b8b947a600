import { createCommand } from '../../src/cli/command.ts'
import type { Env, Ran } from './tollgate.ts'

let last: Promise<unknown> = Promise.resolve()

// A command inside of the test's own process, which spares the start of one. Environment, output and exit code belong to
// the whole process, so there is one at a time.
export function runInProcess(env: Env, words: readonly string[]): Promise<Ran> {
  const ran = last.then(() => run(env, words))
  last = ran.catch(() => {})
  return ran
}

async function run(env: Env, words: readonly string[]): Promise<Ran> {
  const former = { env: process.env, exitCode: process.exitCode }
  const [stdout, stderr] = [record(process.stdout), record(process.stderr)]
  process.env = { ...env }
  process.exitCode = 0
  try {
    await createCommand(words).run()
    return { code: process.exitCode, stdout: stdout.text(), stderr: stderr.text() }
  } finally {
    for (const recorded of [stdout, stderr]) recorded.stop()
    Object.assign(process, former)
  }
}

function record(stream: NodeJS.WriteStream) {
  const { write } = stream
  let text = ''
  stream.write = chunk => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
    return true
  }
  return { text: () => text, stop: () => void (stream.write = write) }
}
