// Initiations at a steady rate until they are stopped, in a separate process. Every answer counts, whatever its status.
import { setTimeout as sleep } from 'node:timers/promises'
import { openConnection } from './connection.js'
import { nowMs } from './moment.js'
import { initiationRequest } from '../rows/payments.js'

const connections = 64

process.on('message', job => void (job === 'stop' ? stopping.abort() : begin(job)))
process.on('disconnect', () => process.exit()) // the parent is gone

let stopping

async function begin(job) {
  stopping = new AbortController()
  const { signal } = stopping
  const free = await Promise.all(Array.from({ length: connections }, () => openConnection(job.port)))
  const times = []
  const refusals = []
  const asked = []
  const began = nowMs()
  for (let n = 0; !signal.aborted; n++) {
    await sleep(began + (n * 1000) / job.perSecond - nowMs())
    asked.push(
      ask(free, job, n).then(
        ms => times.push(ms),
        error => refusals.push(error.message),
      ),
    )
  }
  const measuredMs = nowMs() - began
  await Promise.all(asked)
  for (const connection of free) connection.close()
  process.send?.({ times, refusals, measuredMs })
}

// A request without a free connection opens another, so that it does not wait for earlier ones.
async function ask(free, { port, merchant, series }, n) {
  const cameAt = nowMs()
  const connection = free.pop() ?? (await openConnection(port))
  await connection.ask(initiationRequest(merchant, series, n)).catch(error => {
    connection.close()
    throw error
  })
  free.push(connection)
  return nowMs() - cameAt
}
