// The load generator, in a process of its own: N connections with one request in flight on each, or a fixed
// number of requests a second. It speaks just enough HTTP, so that it takes little of the shared machine.
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { serveJobs, startClock } from './clock.js'
import { initiationRequest, statusRequest, storedInvoice } from './rows.js'

const preparedPerSecond = 10_000 // new payments at most; status checks start again from the first

serveJobs(async job => {
  const requests = prepare(job)
  const lanes = await Promise.all(Array.from({ length: job.connections }, () => openLane(job.port)))
  const clock = startClock(job)
  try {
    await (job.perSecond ? sendOnTime(lanes, requests, clock, job) : sendInTurn(lanes, requests, clock, job))
    return await clock.result()
  } finally {
    for (const lane of lanes) lane.close()
  }
})

function prepare({ kind, merchant, series, stored, perSecond = preparedPerSecond, warmMs, measureMs }) {
  const count = Math.ceil((perSecond * (warmMs + measureMs)) / 1000)
  return Array.from({ length: count }, (_, n) =>
    kind === 'initiation'
      ? initiationRequest(merchant, series, n)
      : statusRequest(merchant, storedInvoice(1 + Math.floor(Math.random() * stored))),
  )
}

// Each connection sends its next request when it has read the answer to the last.
async function sendInTurn(lanes, requests, clock, { kind }) {
  let next = 0
  const take = () => {
    if (next < requests.length) return requests[next++]
    if (kind === 'status') return requests[next++ % requests.length]
    if (!clock.isOver()) clock.stop()
    return undefined
  }
  const run = async lane => {
    for (let request = take(); request && !clock.isOver(); request = take()) {
      const started = performance.now()
      await lane.ask(request)
      clock.record(started)
    }
  }
  await Promise.all(lanes.map(run))
}

// Evenly, whether or not earlier requests are answered. One that finds no connection free waits for it, and
// its clock runs.
async function sendOnTime(lanes, requests, clock, { perSecond }) {
  const began = performance.now()
  const waiting = []
  const ask = async request => {
    const started = performance.now()
    const lane = lanes.pop() ?? (await new Promise(resolve => waiting.push(resolve)))
    await lane.ask(request)
    clock.record(started)
    const next = waiting.shift()
    if (next) next(lane)
    else lanes.push(lane)
  }
  const asked = requests.map(async (request, n) => {
    await sleep(began + (n * 1000) / perSecond - performance.now())
    await ask(request)
  })
  await Promise.all(asked)
}

// A connection that asks and waits. Any answer but 200 ends the round.
async function openLane(port) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  await once(socket, 'connect')
  let waiting
  let read
  socket.on('data', chunk => {
    read = read ? Buffer.concat([read, chunk]) : chunk
    const length = answerLength(read)
    if (length === undefined || read.length < length) return
    const { resolve, reject } = waiting
    const answer = read
    read = undefined
    if (answer.latin1Slice(9, 12) === '200' && answer.length === length) resolve()
    else reject(new Error(`The gateway answered: ${answer.toString()}`))
  })
  socket.on('error', error => waiting?.reject(error))
  socket.on('close', () => waiting?.reject(new Error('The gateway closed a connection.')))
  return {
    ask: request =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        socket.write(request)
      }),
    close: () => socket.destroy(),
  }
}

// Head and body together; undefined while the head is not whole.
function answerLength(bytes) {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const length = /^content-length: *(\d+)/im.exec(bytes.latin1Slice(0, headEnd))?.[1]
  if (length === undefined) throw new Error(`An answer without content-length: ${bytes.toString()}`)
  return headEnd + 4 + Number(length)
}
