import { createCommand } from '../../src/cli/command.ts'
import type { Env, Ran } from './tollgate.ts'

let last: Promise<unknown> = Promise.resolve()

// Runs a command in the process of the test, which is faster than a new process. Environment, output and exit code belong
// to the whole process, so one command runs at a time.
export function runInProcess(env: Env, args: readonly string[]): Promise<Ran> {
  const ran = last.then(() => run(env, args))
  last = ran.catch(() => {})
  return ran
}

async function run(env: Env, args: readonly string[]): Promise<Ran> {
  const former = { env: process.env, exitCode: process.exitCode }
  const [stdout, stderr] = [record(process.stdout), record(process.stderr)]
  process.env = { ...env }
  process.exitCode = 0
  try {
    await createCommand(args).run()
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
