// The load generator, in a separate process: N connections with one request in flight on each, or a fixed
// number of requests a second.
import { setTimeout as sleep } from 'node:timers/promises'
import { serveJobs, startClock } from './clock.js'
import { openConnection } from './connection.js'
import { initiationRequest, pageRequest, statusRequest, storedInvoice, storedPage } from '../rows/payments.js'

const preparedPerSecond = 10_000 // new payments at most; everything else starts again from the first

serveJobs(async job => {
  const requests = prepare(job)
  const connections = await Promise.all(
    Array.from({ length: job.connections }, () => openConnection(job.port)),
  )
  const clock = startClock(job)
  try {
    await (job.perSecond
      ? sendOnTime(connections, requests, clock, job)
      : sendInTurn(connections, requests, clock, job))
    return await clock.result()
  } finally {
    clock.cancel()
    for (const connection of connections) connection.close()
  }
})

function prepare({
  kind,
  merchant,
  merchants = [merchant], // in turn
  series,
  stored,
  every = 1,
  perSecond = preparedPerSecond,
  warmMs,
  measureMs,
}) {
  const count = Math.ceil((perSecond * (warmMs + measureMs)) / 1000)
  const anyStored = () => 1 + Math.floor((Math.random() * stored) / every) * every
  const merchantOf = n => merchants[n % merchants.length]
  const requestFor = {
    initiation: n => initiationRequest(merchantOf(n), series, n),
    status: n => statusRequest(merchantOf(n), storedInvoice(anyStored())),
    page: n => pageRequest(storedPage(merchantOf(n), anyStored())),
  }[kind]
  return Array.from({ length: count }, (_, n) => requestFor(n))
}

// Each connection sends its next request when it has read the answer to the last.
async function sendInTurn(connections, requests, clock, { kind }) {
  let next = 0
  const take = () => {
    if (next < requests.length) return requests[next++]
    if (kind !== 'initiation') return requests[next++ % requests.length]
    if (!clock.isOver()) clock.stop()
    return undefined
  }
  const run = async connection => {
    for (let request = take(); request && !clock.isOver(); request = take()) {
      const started = performance.now()
      await connection.ask(request)
      clock.record(started)
    }
  }
  await Promise.all(connections.map(run))
}

// Evenly, whether or not earlier requests are answered. One that finds no connection free waits for it, and
// its clock runs.
async function sendOnTime(connections, requests, clock, { perSecond }) {
  const began = performance.now()
  const waiting = []
  const ask = async request => {
    const started = performance.now()
    const connection = connections.pop() ?? (await new Promise(resolve => waiting.push(resolve)))
    await connection.ask(request)
    clock.record(started)
    const next = waiting.shift()
    if (next) next(connection)
    else connections.push(connection)
  }
  const asked = requests.map(async (request, n) => {
    await sleep(began + (n * 1000) / perSecond - performance.now())
    await ask(request)
  })
  await Promise.all(asked)
}
