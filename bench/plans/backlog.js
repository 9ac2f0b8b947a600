// A backlog is delivered: by us, and by two queues for PostgreSQL as they come and as well as they can.
import { fillAll, ours, refillTo, unknownSize } from '../contenders/backlog.js'
import { areRivalsInstalled } from '../packages.js'
import { bodyInSql } from '../rows/deliveries.js'
import { createDataset } from '../rows/dataset.js'

const endpoints = 64
const usualWarmMs = 1500
const forDefaults = { count: 10_000, measureMs: 4000 } // they deliver few: pg-boss one in two seconds

const better = { of: 'ours', by: 'rate' }
const logged = ['boss++log', 'graphile++log']
const ratios = [
  { ...better, name: 'ours/better tuned by fetch, rate', to: ['boss+', 'graphile+'] },
  { ...better, name: 'ours/better tuned by undici, rate', to: ['boss++', 'graphile++'] },
  { ...better, name: 'ours/better with a log, rate', to: logged, atLeast: 1.5 },
  { name: 'ours/pg-boss with a log, CPU', of: 'ours', to: 'boss++log', by: 'cpu' },
  { name: 'ours/graphile with a log, CPU', of: 'ours', to: 'graphile++log', by: 'cpu' },
]

// `optionalRivals`: nothing is installed for them.
export function backlogSection(
  bench,
  { rounds, measureMs, warmMs = usualWarmMs, taste, optionalRivals = false },
) {
  const contenders = []
  const hasRivals = !optionalRivals || areRivalsInstalled()
  const about = [
    'One POST of some 600 bytes per job, to 64 endpoints that answer at once; a job is committed before and marked',
    'done after the 200. Each in one process, on a database of its own on the same server. The rivals send by the',
    'fetch that Node comes with, or by undici, the fastest client we know, on 128 connections. They keep nothing of',
    'what came of a job; with a log they keep a row of it, as ours does, written in batches before the job is done: that',
    'is equal work, and the one with a target.',
    'Ours also vets the address, signs, and keeps lanes apart.',
  ]
  return {
    title: 'Delivery of a backlog',
    table: 'backlog',
    hasRivals,
    about,
    rounds,
    job: { warmMs, measureMs },
    contenders,
    count: hasRivals ? 9 : 1,
    ratios: hasRivals ? ratios : [],
    async prepare() {
      await bench.stopGateways()
      const receiver = bench.startReceiver()
      const ports = await receiver.open(Array(endpoints).fill('ok'))
      const dataset = await createDataset(bench, 'delivery', ports)
      const body = await bodyInSql()
      const size = unknownSize()
      const refilling = refillTo(size)
      const openRivals = async () => {
        const { rivals, tunings } = await import('../rivals/rivals.js') // its packages are there only now
        about.push(...tunings)
        return rivals(bench, receiver, dataset, body, { refilling, forDefaults })
      }
      if (!hasRivals) about.push('The rivals are left out: their packages are not installed.')
      const all = [
        ours(bench, receiver, dataset, body, { id: 'ours', label: '(c) as it ships', refilling }),
        ...(hasRivals ? await openRivals() : []),
      ]
      await fillAll(all, size, rounds, { warmMs, measureMs, taste })
      contenders.push(...all.map(({ contender }) => contender))
    },
  }
}
