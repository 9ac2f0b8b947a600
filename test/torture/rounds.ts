import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../support/random.ts'
import { type Violation, violationsIn } from './checker.ts'
import { readEvidence } from './evidence.ts'
import type { Fault, Recovery, Turn } from './faults/fault.ts'
import type { Installation, TortureShop } from './installation.ts'
import type { Load } from './load.ts'
import type { TestedNode } from './nodes.ts'
import { settle } from './settle.ts'

export type PickRandom = ReturnType<typeof createRandom>
export type Measured = { fault: string; what: Recovery; ms: number }

export type RoundPlan = { seed: number; faults: readonly Fault[]; isLong: boolean }

// These are for starved machines: a round ends as soon as everything is done.
const settleWithinMs = 300_000
const answersWithinMs = 180_000 // after the faults are healed
const calmMs = 700 // of load before and after a fault
const probeEveryMs = 50
const leastPatienceMs = 1000
const servesWithinMs = 300_000

// Faults under load, one after the other; then the load ends, and everything that is due is done. Returns the violations.
export async function runRound(
  installation: Installation,
  load: Load,
  { seed, faults, isLong }: RoundPlan,
  say: (text: string) => void,
  measured: Measured[],
): Promise<Violation[]> {
  const chance = createRandom(seed)
  load.resume()
  for (const fault of faults) {
    await sleep(calmMs)
    load.during = fault.name
    say(fault.name)
    const servesAgain = async (
      what: Recovery,
      nodes: readonly TestedNode[] = installation.nodes,
      shops: readonly TortureShop[] = installation.shops,
    ) => {
      await Promise.all(
        nodes.map(async node => {
          const ms = await timeToServe(load, node, shops)
          measured.push({ fault: fault.name, what, ms })
          if (ms >= servesWithinMs)
            installation.notes.push(`${node.name} does not serve after ${fault.name}: ${node.state()}`)
        }),
      )
    }
    const turn: Turn = {
      installation,
      isLong,
      chance,
      load,
      say: text => say(`${fault.name}: ${text}`),
      failed: text => void installation.notes.push(text),
      servesAgain,
    }
    await fault.inject(turn)
  }
  await sleep(calmMs)
  const wrong: Violation[] = []
  if (!(await within(answersWithinMs, load.pause())))
    wrong.push({ kind: 'liveness', text: 'requests of shops have no answer' })
  say('waits until everything is done')
  const left = await settle(installation, settleWithinMs)
  if (left) wrong.push({ kind: 'liveness', text: `not done in time: ${JSON.stringify(left)}` })
  say('checks')
  const evidence = await readEvidence(installation, load)
  wrong.push(...violationsIn(evidence, new Date()))
  for (const text of installation.notes.splice(0)) wrong.push({ kind: 'liveness', text })
  return wrong
}

// A request that hangs is given up soon, because a new one may be answered at once; later ones wait longer, because a node of
// a starved machine answers late.
async function timeToServe(load: Load, node: TestedNode, shops: readonly TortureShop[]): Promise<number> {
  const from = performance.now()
  const waited = () => performance.now() - from
  while (!(await load.probe(node, Math.max(leastPatienceMs, Math.ceil(waited() / 4)), shops))) {
    if (waited() >= servesWithinMs) break
    await sleep(probeEveryMs)
  }
  return waited()
}

const within = (ms: number, work: Promise<void>): Promise<boolean> =>
  Promise.race([work.then(() => true), sleep(ms, false, { ref: false })])
