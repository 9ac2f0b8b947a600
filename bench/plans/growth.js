// The same backlog on empty tables and behind a million deliveries that have ended.
import { claimTimes } from '../contenders/claimTimes.js'
import { delivering, startOurs } from '../contenders/deliveryRate.js'
import { add, bodyInSql, dueSql, empty, finishedSql, leftSql } from '../rows/deliveries.js'
import { createDataset } from '../rows/dataset.js'

const endpoints = 64
const usualFinished = 1_000_000
const usualWarmMs = 1500
const startMs = 1000
const mostPerSecond = 12_000

export function growthSection(bench, { rounds, measureMs, warmMs = usualWarmMs, finished = usualFinished }) {
  const contenders = []
  const due = Math.ceil((rounds * (startMs + warmMs + measureMs) * mostPerSecond) / 1000)
  return {
    title: `Delivery, ${finished.toLocaleString('en')} ended`,
    table: 'growth',
    about: [
      'Look and take are the statements that find what is due (1,000 rows) and lease it (64 rows), timed one at a time',
      'before the work begins.',
    ],
    rounds,
    job: { warmMs, measureMs },
    contenders,
    count: 2,
    ratios: [
      { name: 'full/empty, rate', of: 'full', to: 'empty', by: 'rate', atLeast: 0.85 },
      { name: 'full/empty, look and take', of: 'full', to: 'empty', by: 'claimMs' },
    ],
    async prepare() {
      await bench.stopGateways()
      const receiver = bench.startReceiver()
      const ports = await receiver.open(Array(endpoints).fill('ok'))
      const body = await bodyInSql()
      const make = async (id, label, past) => {
        const dataset = await createDataset(bench, `growth_${id}`, ports)
        await empty(dataset.url)
        await add(dataset.url, [
          ...past(body, dataset),
          ...dueSql(body, dataset, { from: finished + 1, to: finished + due }),
        ])
        return growing(bench, receiver, dataset, { id, label })
      }
      contenders.push(
        await make('empty', '(c) on empty tables', () => []),
        await make('full', `(c) behind ${finished.toLocaleString('en')} that ended`, (...given) =>
          finishedSql(...given, { to: finished }),
        ),
      )
    },
  }
}

function growing(bench, receiver, dataset, named) {
  const start = () => startOurs(bench, dataset)
  const contender = delivering(bench, receiver, { ...named, url: dataset.url, leftSql, start })
  return {
    ...contender,
    async run(job) {
      const { lookMs, takeMs } = await claimTimes(dataset.url)
      return { ...(await contender.run(job)), lookMs, takeMs, claimMs: lookMs + takeMs }
    },
  }
}
