// Sends events to a peer, in a separate process: at given moments, or as fast as so many connections
// can. Reports when each was sent and accepted.
import { setTimeout as sleep } from 'node:timers/promises'
import { serveJobs } from '../load/clock.js'
import { openConnection, readAnswer } from '../load/connection.js'
import { nowMs } from '../load/moment.js'

serveJobs(async ({ peer, target, items, connections, untilMs }) => {
  const { requestOf, accepted, idIn } = await import(`./${peer}.js`)
  const requests = items.map(({ endpoint, n, atMs }) => ({
    ...requestOf(target, endpoint, n),
    endpoint,
    atMs,
  }))
  const free = await Promise.all(Array.from({ length: connections }, () => openConnection(target.port)))
  const began = nowMs()
  const done = []
  const refusals = []
  // Returns the connection for the next: after a refusal a new one, for the old may be closed.
  const send = async (connection, { id, bytes, endpoint }, cameAt) => {
    try {
      const answer = await connection.ask(bytes, accepted)
      const acceptedAt = nowMs()
      done.push({ id: idIn ? idIn(readAnswer(answer).text) : id, endpoint, cameAt, acceptedAt })
      return connection
    } catch (error) {
      refusals.push(error.message)
      connection.close()
      return openConnection(target.port)
    }
  }
  if (items[0]?.atMs === undefined) await inTurn(free, requests, send, () => nowMs() - began > untilMs)
  else await onTime(free, requests, send, began, target.port)
  for (const connection of free) connection.close()
  if (done.length === 0) throw new Error(`Nothing was accepted: ${refusals[0]}`)
  const { user, system } = process.cpuUsage()
  return { done, began, refused: refusals.length, refusal: refusals[0], cpuMs: (user + system) / 1000 }
})

async function inTurn(free, requests, send, isOver) {
  let next = 0
  const run = async (_, at) => {
    while (next < requests.length && !isOver()) free[at] = await send(free[at], requests[next++], nowMs())
  }
  await Promise.all(free.map(run))
}

// A request without a free connection opens another, so that it does not wait for earlier ones.
const onTime = (free, requests, send, began, port) =>
  Promise.all(
    requests.map(async request => {
      await sleep(began + request.atMs - nowMs())
      const cameAt = nowMs()
      const connection = free.pop() ?? (await openConnection(port))
      free.push(await send(connection, request, cameAt))
    }),
  )
