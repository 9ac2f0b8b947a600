import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { bundle } from '../processes/bundle.ts'
import { randomSeed } from '../random.ts'

export type Worker = {
  child: ChildProcess
  tried(): Promise<number>
  taken(): Promise<unknown> // ends when it has leased something
  firstTried(): Promise<unknown> // ends when its first try has ended
  pause(ms: number): Promise<unknown> // ends when it resumes
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
}

// Processes that only deliver notifications, for the tests of one file. The program is bundled into one file, so that a
// process starts fast.
export function openWorkers() {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-worker-'))
  const program = join(folder, 'worker.cjs')
  const living = new Set<ChildProcess>()

  beforeAll(async () => {
    await bundle(new URL('../../proof/deliveryWorker.ts', import.meta.url), program)
  })
  afterAll(() => {
    for (const child of living) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })

  async function start(env: Record<string, string>): Promise<Worker> {
    const child = fork(program, {
      env: { PATH: process.env.PATH, TEST_SEED: String(randomSeed()), ...env },
      execArgv: [],
    })
    living.add(child)
    const ended = once(child, 'exit').then(() => void living.delete(child))
    await Promise.race([once(child, 'message'), ended.then(() => Promise.reject(new Error('it ended')))])
    async function ask(word: unknown) {
      const answer = once(child, 'message') as Promise<[number]>
      child.send(word as object)
      return (await answer)[0]
    }
    return {
      child,
      tried: () => ask('tried'),
      taken: () => ask('taken'),
      firstTried: () => ask('firstTried'),
      pause: pauseMs => ask({ pauseMs }),
      async kill(signal) {
        child.kill(signal)
        await ended
      },
    }
  }

  return { start, startMany: (env: Record<string, string>, count: number) => many(count, () => start(env)) }
}

const many = <T>(count: number, make: () => Promise<T>) => Promise.all(Array.from({ length: count }, make))
