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
  taken(): Promise<unknown> // ends when it has taken something
  told(): Promise<unknown> // ends when its first try has ended
  standStill(ms: number): Promise<unknown> // ends when it wakes
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
}

// Processes that carry notifications and do nothing else, as long as the tests of a file run. The program is put into
// one file, so that one of them starts in a blink.
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
    async function tell(word: unknown) {
      const answer = once(child, 'message') as Promise<[number]>
      child.send(word as object)
      return (await answer)[0]
    }
    return {
      child,
      tried: () => tell('tried'),
      taken: () => tell('taken'),
      told: () => tell('told'),
      standStill: standStillMs => tell({ standStillMs }),
      async kill(signal) {
        child.kill(signal)
        await ended
      },
    }
  }

  return { start, startMany: (env: Record<string, string>, count: number) => many(count, () => start(env)) }
}

const many = <T>(count: number, make: () => Promise<T>) => Promise.all(Array.from({ length: count }, make))
