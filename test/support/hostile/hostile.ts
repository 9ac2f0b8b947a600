import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../processes/bundle.ts'
import { testSeed } from '../random.ts'
import type { Tally, Target } from './crowd.ts'

// The hostile process, as the test sees it.
export async function startHostile() {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-hostile-'))
  const program = join(folder, 'hostile.cjs')
  await bundle(new URL('./program.ts', import.meta.url), program)
  const child = fork(program, { env: { PATH: process.env.PATH, TEST_SEED: String(testSeed) }, execArgv: [] })
  const ended = once(child, 'exit')
  return {
    async attack(what: string, target: Target): Promise<Tally> {
      const answer = once(child, 'message')
      child.send({ what, target })
      const over = ended.then(() => Promise.reject(new Error('the hostile process ended')))
      const [{ tally, failed }] = (await Promise.race([answer, over])) as [{ tally: Tally; failed?: string }]
      if (failed) throw new Error(failed)
      return tally
    },
    async stop() {
      child.disconnect()
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
