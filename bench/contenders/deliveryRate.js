// Processes that deliver a backlog, as contenders: each in a separate process, with its own database, to one receiver.
import { setTimeout as sleep } from 'node:timers/promises'
import { createMeter } from './meter.js'
import { Starved } from '../load/starved.js'
import { query } from '../rows/database.js'
import { toThisMachine } from './gateway.js'

const patienceMs = 30_000 // until the first one comes
const lookMs = 20

export const startOurs = (bench, dataset) => bench.startGateway(dataset, toThisMachine)

/** @typedef {{ id: string, label: string, url: string, leftSql: string, start: () => Promise<any>, own?: object,
 *   refill?: { before: (left: number) => any, ranOut: () => void } }} Delivering */

// `start` begins the work on a backlog that is there. What came is counted by the receiver, and what is left in the
// database when the worker has stopped: nothing may be missing, and nothing come twice.
/** @type {(bench: any, receiver: any, how: Delivering) => any} */
export function delivering(bench, receiver, { id, label, url, leftSql, start, own, refill }) {
  return {
    id,
    label,
    own,
    async run({ warmMs, measureMs }) {
      await receiver.forget()
      const countLeft = async () => (await query(url, leftSql))[0].left
      await refill?.before(await countLeft())
      const before = await countLeft()
      await query(url, 'checkpoint')
      const worker = await start()
      let figures
      try {
        await firstOne(receiver)
        await sleep(warmMs)
        figures = await measure(bench, receiver, worker, measureMs)
        if ((await countLeft()) === 0) {
          refill?.ranOut()
          throw new Starved(`${label} had nothing left to deliver.`)
        }
      } finally {
        await worker.stop()
      }
      const { requests, distinct } = await receiver.count()
      const done = before - (await countLeft())
      await query(url, 'vacuum') // or it would be done while another is measured
      return {
        ...figures,
        lost: Math.max(0, done - distinct),
        twice: requests - distinct + Math.max(0, distinct - done), // what is not noted as done is sent again
      }
    },
  }
}

async function firstOne(receiver) {
  for (const until = performance.now() + patienceMs; performance.now() < until; await sleep(lookMs))
    if ((await receiver.count()).requests > 0) return
  throw new Error('Nothing was delivered.')
}

async function measure(bench, receiver, worker, measureMs) {
  const meter = createMeter({ gateway: worker.cpuMs, postgres: bench.server.cpuMs })
  const [before, receiverMs] = [await receiver.count(), receiver.cpuMs()]
  meter.start()
  await sleep(measureMs)
  meter.stop()
  const after = await receiver.count()
  const requests = after.distinct - before.distinct
  const rate = (requests * 1000) / (after.at - before.at)
  return meter.complete({ requests, rate, cpuMs: receiver.cpuMs() - receiverMs })
}
