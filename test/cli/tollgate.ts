import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterFile } from '../support/vitest/afterFile.ts'
import { runInProcess } from './inProcess.ts'

// The real program, as an operator runs it, with only these environment variables.
export type Env = Record<string, string>
export type Ran = { code: number | null; stdout: string; stderr: string }
export type Running = {
  child: ChildProcess
  stdout(): string
  stderr(): string
  says(words: string): Promise<void> // waits for it on standard output
  ended: Promise<Ran>
}

const always = { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', TOLLGATE_STOP_SECONDS: '0' }

export const launch = (env: Env, ...args: string[]): Running =>
  spawnProgram(process.execPath, ['bin/tollgate.js', ...args], env)

export function spawnProgram(program: string, args: string[], env: Env): Running {
  const child = spawn(program, args, {
    env: { ...always, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  afterFile(() => child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', chunk => (stdout += String(chunk)))
  child.stderr.on('data', chunk => (stderr += String(chunk)))
  const ended = once(child, 'close').then(([code]): Ran => {
    return { code: typeof code === 'number' ? code : null, stdout, stderr }
  })
  const says = async (words: string) => {
    while (!stdout.includes(words)) {
      const over = await Promise.race([ended, sleep(20, undefined)])
      if (over)
        throw new Error(`ended with ${over.code} before it said ${words}: ${over.stdout}${over.stderr}`)
    }
  }
  return { child, stdout: () => stdout, stderr: () => stderr, says, ended }
}

// A gateway exits its process, so it gets a separate one. A command runs in the process of the test.
export const tollgate = (env: Env, ...args: string[]): Promise<Ran> =>
  args[0] === 'start' || env.NODE_OPTIONS
    ? launch(env, ...args).ended
    : runInProcess({ ...always, ...env }, args)

// The same with --json: the data or the error, and the exit code.
export async function tollgateJson(env: Env, ...args: string[]) {
  const { code, stdout, stderr } = await tollgate(env, ...args, '--json')
  return {
    code,
    data: stdout ? JSON.parse(stdout) : undefined,
    error: stderr ? JSON.parse(stderr).error : undefined,
  }
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-cli-'))
  afterFile(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export const newMasterKey = () => randomBytes(32).toString('hex')

// Undefined if no PostgreSQL uses the folder.
export function postmasterOf(dataDir: string): number | undefined {
  try {
    return Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
  } catch {
    return undefined
  }
}

// A line that was being written at the end may follow it.
export const fatalIn = (log: string) =>
  log
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
    .find(line => line.level === 'fatal')
