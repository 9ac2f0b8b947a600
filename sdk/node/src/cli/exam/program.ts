import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { CommandError, type Io } from '../command.ts'
import type { Credentials } from '../credentials.ts'

const keptLines = 20

export type ShopProgram = { output(): string; hasEnded(): boolean; stop(): Promise<void> }

// The variables that point a shop to the gateway of the exam.
export const shopEnv = ({
  baseUrl,
  merchantKey,
  merchantSecret,
  ipnSecret = '',
}: Credentials): Record<string, string> => ({
  TOLLGATE_URL: baseUrl,
  TOLLGATE_MERCHANT_KEY: merchantKey,
  TOLLGATE_MERCHANT_SECRET: merchantSecret,
  TOLLGATE_IPN_SECRET: ipnSecret,
})

// Starts the developer's shop, in a process group of its own: a script may start further processes.
export function startProgram(
  [name = '', ...args]: readonly string[],
  credentials: Credentials,
  io: Io,
): ShopProgram {
  const env = { ...io.env, ...shopEnv(credentials), EXAM: '1' }
  const isGroup = process.platform !== 'win32'
  const child = spawn(name, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: isGroup })
  let output = ''
  const keep = (chunk: unknown) =>
    (output = (output + String(chunk)).split('\n').slice(-keptLines).join('\n'))
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  child.on('error', error => keep(`${error.message}\n`))
  return {
    output: () => output.trim(),
    hasEnded: () => child.exitCode !== null || child.signalCode !== null || child.pid === undefined,
    async stop() {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      kill(child, isGroup, 'SIGTERM')
      const timer = setTimeout(() => kill(child, isGroup, 'SIGKILL'), 3000)
      await ended
      clearTimeout(timer)
    },
  }
}

function kill(child: ChildProcess, isGroup: boolean, signal: NodeJS.Signals) {
  try {
    if (isGroup && child.pid) process.kill(-child.pid, signal)
    else child.kill(signal)
  } catch {
    // It has ended.
  }
}

export const endedEarly = (program: ShopProgram): CommandError =>
  new CommandError(`Your shop ended before the exam. Its last lines:\n${program.output()}`, 2)
