// How soon a system goes on after kill -9.
import { setTimeout as sleep } from 'node:timers/promises'
import { nowMs } from '../load/moment.js'
import { endpoints, ok, section } from './section.js'
import { countAt, untilCame, withSystem } from './turns.js'

const settleMs = 20

export const killed = (bench, { rounds, killedCount: count }) =>
  section(bench, {
    title: 'killed in the middle',
    table: 'peersKilled',
    about: [
      `A backlog of ${count}; when a third has come, all processes of the system but its brokers and PostgreSQL get kill -9 and`,
      'are started again at once. Seconds from the kill to the next that comes, and to the last.',
    ],
    rounds,
    measureMs: 10_000,
    kinds: ok(endpoints),
    turn: ({ receiver, ports, system }) =>
      withSystem(system.open(ports), async open => {
        const ids = await open.fill(count)
        await open.start()
        await untilCame(receiver, count / 3)
        await open.kill()
        const killedAt = nowMs()
        const again = open.startAgain()
        const known = await settledCount(receiver)
        await untilCame(receiver, known + 1)
        const onMs = nowMs() - killedAt
        await again
        const { arrivals, lost, twice } = await countAt(receiver, ids)
        const allMs = Math.max(...arrivals.values()) - killedAt
        // Processes that come and go in the middle have no CPU time to compare.
        return { requests: count, onMs, allMs, lost, twice, cpuUs: {} }
      }),
  })

// What had left before the kill may still be in transit to the receiver; a new process is not so quick.
async function settledCount(receiver) {
  let known = -1
  for (let next = 0; next > known; await sleep(settleMs)) {
    known = next
    next = (await receiver.count()).distinct
  }
  return known
}
