// Arrivals that do not wait for answers, in a separate process: each stream has a number of requests a second, whatever
// becomes of the earlier ones. Refusals are counted and timed, too.
import { setTimeout as sleep } from 'node:timers/promises'
import { quantile, sorted } from '../report/figures.js'
import { initiationRequest } from '../rows/payments.js'
import { serveJobs } from './clock.js'
import { anyStatus, openConnection } from './connection.js'

const tickMs = 1
const maxConnections = 4000 // of a stream; a request that finds none free waits, and its clock runs
const lastAnswersMs = 15_000 // longer than a gateway lets a request wait
const shedStatuses = new Set(['429', '503'])

serveJobs(async job => {
  const streams = job.streams.map(stream => openStream(job, stream))
  const from = performance.now() + job.warmMs
  const until = from + job.measureMs
  const beginning = setTimeout(() => process.send?.({ measuring: true }), job.warmMs)
  const before = process.cpuUsage()
  try {
    await Promise.all(streams.map(stream => send(stream, from, until)))
    process.send?.({ measured: true })
    const { user, system } = process.cpuUsage(before)
    await Promise.race([Promise.all(streams.flatMap(({ asked }) => [...asked])), sleep(lastAnswersMs)])
    return { cpuMs: (user + system) / 1000, streams: streams.map(stream => figuresOf(stream, job)) }
  } finally {
    clearTimeout(beginning)
    for (const { all } of streams) for (const connection of all) connection.close()
  }
})

function openStream({ port, warmMs, measureMs }, { merchant, series, perSecond }) {
  const count = Math.ceil((perSecond * (warmMs + measureMs)) / 1000)
  const requests = Array.from({ length: count }, (_, n) => initiationRequest(merchant, series, n))
  return {
    port,
    perSecond,
    requests,
    free: [],
    all: new Set(),
    waiting: [], // for a connection
    asked: new Set(),
    accepted: [],
    shed: [],
    failed: 0,
    measured: 0,
  }
}

async function send(stream, from, until) {
  const began = performance.now()
  for (let n = 0; performance.now() < until && n < stream.requests.length; await sleep(tickMs)) {
    const due = Math.min(stream.requests.length, ((performance.now() - began) * stream.perSecond) / 1000)
    for (; n < due; n++) ask(stream, stream.requests[n], from)
  }
}

function ask(stream, request, from) {
  const cameAt = performance.now()
  const isMeasured = cameAt >= from
  if (isMeasured) stream.measured++
  const asking = exchange(stream, request)
    .then(
      status => {
        if (!isMeasured) return
        const ms = performance.now() - cameAt
        if (status === '200') stream.accepted.push(ms)
        else if (shedStatuses.has(status)) stream.shed.push(ms)
        else stream.failed++
      },
      () => {
        if (isMeasured) stream.failed++
      },
    )
    .finally(() => stream.asked.delete(asking))
  stream.asked.add(asking)
}

async function exchange(stream, request) {
  const connection = await take(stream)
  try {
    const answer = await connection.ask(request, anyStatus)
    giveBack(stream, connection)
    return answer.latin1Slice(9, 12)
  } catch (error) {
    drop(stream, connection)
    throw error
  }
}

async function take(stream) {
  const { free, all, waiting, port } = stream
  const idle = free.pop()
  if (idle) return idle
  if (all.size >= maxConnections) return new Promise(resolve => waiting.push(resolve))
  const place = {}
  all.add(place) // counts while it is opened
  try {
    const connection = await openConnection(port)
    all.add(connection)
    return connection
  } finally {
    all.delete(place)
  }
}

function giveBack({ free, waiting }, connection) {
  const next = waiting.shift()
  if (next) next(connection)
  else free.push(connection)
}

function drop({ all }, connection) {
  all.delete(connection)
  connection.close()
}

function figuresOf({ accepted, shed, failed, measured }, { measureMs }) {
  const [taken, refused] = [sorted(accepted), sorted(shed)]
  const unanswered = measured - taken.length - refused.length - failed
  return {
    offered: (measured * 1000) / measureMs,
    accepted: (taken.length * 1000) / measureMs,
    p50: quantile(taken, 0.5),
    p99: quantile(taken, 0.99),
    shed: (refused.length * 1000) / measureMs,
    shedP99: refused.length > 0 ? quantile(refused, 0.99) : 0,
    failed: failed + unanswered,
  }
}
