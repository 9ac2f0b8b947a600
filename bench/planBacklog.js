// A backlog is delivered: by us, and by two queues for PostgreSQL as they come and as well as they can.
import { query } from './database.js'
import { delivering, startOurs, startRival } from './deliveryRate.js'
import { add, bodyInSql, dueSql, empty, jobInSql, leftSql } from './deliveryRows.js'
import * as graphile from './rivalGraphile.js'
import * as pgBoss from './rivalPgBoss.js'
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
      'done after the 200. Each in one process, on a database of its own on the same server; the rivals send with the',
      'fetch that Node comes with, or with undici on 128 connections. Ours also vets the address, signs, keeps lanes',
      'apart and logs every try.',
      `Tuned pg-boss: ${pgBoss.tuning}.`,
      `Tuned graphile-worker: ${graphile.tuning}.`,
    ],
    rounds,
    job: { warmMs, measureMs },
    contenders,
    count: 7,
    ratios: [
      { ...better, name: 'ours/better tuned by fetch, rate', to: ['boss+', 'graphile+'] },
      { ...better, name: 'ours/better tuned by undici, rate', to: ['boss++', 'graphile++'] },
      { name: 'ours/pg-boss tuned by undici, rate', of: 'ours', to: 'boss++', by: 'rate' },
      { name: 'ours/graphile tuned by undici, CPU', of: 'ours', to: 'graphile++', by: 'cpu' },
    ],
    async prepare() {
      await bench.stopGateways()
      const receiver = bench.startReceiver()
      const ports = await receiver.open(Array(endpoints).fill('ok'))
      const town = await createTown(bench, 'delivery', ports)
      const body = await bodyInSql()
      const size = { ofRound: 0, whole: 0 } // of the backlog
      const all = [
        ours(bench, receiver, town, body, size),
        ...(await rivals(bench, receiver, town, body, size)),
      ]
      await fillAll(all, size, rounds, (startMs + warmMs + measureMs) / 1000)
      contenders.push(...all.map(({ contender }) => contender))
    },
  }
}

// When the machine has become faster since the tasting.
const refillTo = (size, fill) => left => left < size.ofRound && fill(size.whole)

function ours(bench, receiver, town, body, size) {
  const { url } = town
  const fill = async count => {
    await empty(url)
    await add(url, dueSql(body, town, { to: count }))
  }
  const [start, refill] = [() => startOurs(bench, town), refillTo(size, fill)]
  const named = { id: 'ours', label: '(c) as it ships' }
  return { contender: delivering(bench, receiver, { ...named, url, leftSql, start, refill }), fill }
}

function rivals(bench, receiver, { urls }, body, size) {
  const rival = async (id, label, file, made, client, options) => {
    const url = await bench.server.createBare(`${made.name}_${client}${options ? '_tuned' : ''}`)
    await made.prepare(url)
    const fill = async count => {
      const filling = made.fillSql(jobInSql(body, urls), count)
      for (const text of [made.emptySql, filling, made.tidySql, 'checkpoint']) await query(url, text)
    }
    const how = options
      ? { start: () => startRival(file, url, options, client), refill: refillTo(size, fill) }
      : { start: () => startRival(file, url, {}, client), own: { measureMs: forDefaults.measureMs } }
    const contender = delivering(bench, receiver, { id, label, url, leftSql: made.leftSql, ...how })
    return { contender, fill, isDefault: !options }
  }
  return Promise.all([
    rival('boss', 'pg-boss as it comes', './rivalPgBoss.js', pgBoss, 'fetch'),
    rival('boss+', 'pg-boss tuned, fetch', './rivalPgBoss.js', pgBoss, 'fetch', pgBoss.tuned),
    rival('boss++', 'pg-boss tuned, undici', './rivalPgBoss.js', pgBoss, 'undici', pgBoss.tuned),
    rival('graphile', 'graphile-worker as it comes', './rivalGraphile.js', graphile, 'fetch'),
    rival(
      'graphile+',
      'graphile-worker tuned, fetch',
      './rivalGraphile.js',
      graphile,
      'fetch',
      graphile.tuned,
    ),
    rival(
      'graphile++',
      'graphile-worker tuned, undici',
      './rivalGraphile.js',
      graphile,
      'undici',
      graphile.tuned,
    ),
  ])
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
