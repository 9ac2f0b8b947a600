import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import type { Observe } from '../../observe/requests.ts'
import { newRequestId } from '../../runtime/ids.ts'
import { sendAnswer } from '../http/apiRequest.ts'
import type { Env } from '../http/context.ts'
import { crowdedAnswer } from '../http/errors.ts'
import { answerBrokenRequest, answerConnect } from './brokenRequest.ts'
import { mindSockets, type Sockets } from './sockets.ts'

const maxConnections = 10_000 // more than may queue, so that the queue refuses in words before this does without
// Connections that the kernel keeps until they are accepted; Linux cuts it to net.core.somaxconn, which is 4096. Node's
// default is 511, which a burst of connections fills: the kernel then drops those of customers, who wait for a second or
// more until they are repeated, or are reset.
const backlog = 4096
const headersTimeoutMs = 10_000
const requestTimeoutMs = 20_000
const keepAliveMs = 75_000 // longer than the idle time of common proxies, so that they close first
const stalledReaderMs = 30_000
const maxHeaderBytes = 16 * 1024
const drainMs = 10_000

// Answers what is its own, and says whether it was.
export type Answerer = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

export type Listening = {
  port: number
  serve(first: Answerer, app: Hono<Env>, observe: Observe): void
  isStopping(): boolean
  announceStop(): void
  stop(): Promise<void>
}

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => void

const drop: Handle = (_, outgoing) => outgoing.destroy()

// Takes the port first and serves later, because some of what is served has to know the port. Who comes in between
// waits.
export function listen(host: string, port: number, { stallMs = stalledReaderMs } = {}): Promise<Listening> {
  const early: Parameters<Handle>[] = []
  const wait: Handle = (incoming, outgoing) => void early.push([incoming, outgoing])
  let handle = wait
  let refuse = drop
  const limits = {
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: maxHeaderBytes,
    connectionsCheckingInterval: 2000,
  }
  const server = createServer(limits, (incoming, outgoing) => {
    const admission = sockets.admit(incoming, outgoing)
    if (admission === 'serve') handle(incoming, outgoing)
    else if (admission === 'refuse') refuse(incoming, outgoing)
  })
  const sockets = mindSockets(server, stallMs)

  // The interface and the files answer first; what is neither is a page.
  function serve(first: Answerer, app: Hono<Env>, observe: Observe) {
    const pages = getRequestListener(app.fetch, { hostname: 'localhost' }) // where no Host was sent
    handle = (incoming, outgoing) => {
      if (!first(incoming, outgoing)) void pages(incoming, outgoing)
    }
    refuse = refuseCrowd(observe)
    for (const exchange of early.splice(0)) handle(...exchange)
  }

  function stop() {
    if (handle === wait) handle = drop
    for (const exchange of early.splice(0)) drop(...exchange)
    return stopServer(server, sockets)
  }

  server.maxConnections = maxConnections
  server.maxHeadersCount = 0 // their bytes are counted; Node would leave out what comes after the thousandth, unsaid
  server.on('clientError', answerBrokenRequest)
  server.on('connect', ({ socket }) => {
    if (sockets.hasUnanswered(socket)) socket.destroy()
    else answerConnect(socket)
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, backlog, () => {
      const { isStopping, announceStop } = sockets
      resolve({ port: (server.address() as AddressInfo).port, serve, isStopping, announceStop, stop })
    })
  })
}

const refuseCrowd =
  (observe: Observe): Handle =>
  ({ method = '' }, outgoing) => {
    const requestId = newRequestId()
    const answer = crowdedAnswer(requestId)
    sendAnswer(outgoing, answer, requestId)
    const { http, code } = answer
    observe({ requestId, method, route: 'other', http, code, started: performance.now() })
  }

// Closes the port first, then idle connections. Running requests finish, and each tells its connection that it was
// the last.
async function stopServer(server: Server, sockets: Sockets): Promise<void> {
  sockets.announceStop()
  await sockets.untilAllAreIn()
  const closed = new Promise(resolve => NetServer.prototype.close.call(server, resolve)) // the port alone
  await sockets.untilQuiet()
  sockets.closeIdle()
  const force = setTimeout(() => server.closeAllConnections(), drainMs)
  await closed
  clearTimeout(force)
  sockets.endLooking()
  server.close() // and with it the timer that looks for slow requests
}
