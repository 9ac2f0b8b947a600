// A backlog is delivered: by us, and by two queues for PostgreSQL as they come and as well as they can.
import { delivering, startOurs } from './deliveryRate.js'
import { add, bodyInSql, dueSql, empty, leftSql } from './deliveryRows.js'
import { rivals, tunings } from './rivals.js'
import { createTown } from './town.js'

const endpoints = 64
const warmMs = 1500
const startMs = 1000 // of a process, beside its warming up
const tasted = { count: 40_000, warmMs: 800, measureMs: 1200 } // to see how large the backlog has to be
const spare = 1.3
const forDefaults = { count: 10_000, measureMs: 4000 } // they deliver few: pg-boss one in two seconds

const better = { of: 'ours', by: 'rate', atLeast: 1.5 }

export function backlogSection(bench, { rounds, measureMs }) {
  const contenders = []
  return {
    title: 'Delivery of a backlog',
    table: 'backlog',
    about: [
      'One POST of some 600 bytes per job, to 64 endpoints that answer at once; a job is committed before and marked',
      'done after the 200. Each in one process, on a database of its own on the same server. The rivals send by the',
      'fetch that Node comes with, or by undici, the fastest client we know, on 128 connections. They keep nothing of',
      'what came of a job; with a log they keep a row of it, as ours does, written in batches before the job is done.',
      'Ours also vets the address, signs, and keeps lanes apart.',
      ...tunings,
    ],
    rounds,
    job: { warmMs, measureMs },
    contenders,
    count: 8,
    ratios: [
      { ...better, name: 'ours/better tuned by fetch, rate', to: ['boss+', 'graphile+'] },
      { ...better, name: 'ours/better tuned by undici, rate', to: ['boss++', 'graphile++'] },
      { name: 'ours/graphile undici, log, rate', of: 'ours', to: 'graphile++log', by: 'rate' },
      { name: 'ours/graphile undici, log, CPU', of: 'ours', to: 'graphile++log', by: 'cpu' },
    ],
    async prepare() {
      await bench.stopGateways()
      const receiver = bench.startReceiver()
      const ports = await receiver.open(Array(endpoints).fill('ok'))
      const town = await createTown(bench, 'delivery', ports)
      const body = await bodyInSql()
      const size = { ofRound: 0, whole: 0 } // of the backlog
      const refilling = refillTo(size)
      const all = [
        ours(bench, receiver, town, body, refilling),
        ...(await rivals(bench, receiver, town, body, { refilling, ownMeasureMs: forDefaults.measureMs })),
      ]
      await fillAll(all, size, rounds, (startMs + warmMs + measureMs) / 1000)
      contenders.push(...all.map(({ contender }) => contender))
    },
  }
}

// When the machine has become faster since the tasting.
const refillTo = size => fill => left => left < size.ofRound && fill(size.whole)

function ours(bench, receiver, town, body, refilling) {
  const { url } = town
  const fill = async count => {
    await empty(url)
    await add(url, dueSql(body, town, { to: count }))
  }
  const [start, refill] = [() => startOurs(bench, town), refilling(fill)]
  const named = { id: 'ours', label: '(c) as it ships' }
  return { contender: delivering(bench, receiver, { ...named, url, leftSql, start, refill }), fill }
}

// The same backlog for all that are fast, so large that the fastest does not reach its end.
async function fillAll(all, size, rounds, seconds) {
  const rates = []
  for (const { contender, fill, isDefault } of all) {
    await fill(isDefault ? forDefaults.count : tasted.count)
    if (!isDefault) rates.push((await contender.run(tasted)).rate)
  }
  size.ofRound = Math.ceil(Math.max(...rates) * seconds * spare)
  size.whole = size.ofRound * rounds
  for (const { fill, isDefault } of all) if (!isDefault) await fill(size.whole)
}
