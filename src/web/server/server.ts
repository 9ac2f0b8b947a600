import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import type { Hono } from 'hono'
import type { Code } from '../../core/interface/refusal.ts'
import type { Observe } from '../../observe/requests.ts'
import { newRequestId } from '../../runtime/ids.ts'
import { notCached, sendAnswer } from '../http/apiRequest.ts'
import type { Env } from '../http/context.ts'
import { crowdedAnswer, plainAnswer } from '../http/errors.ts'
import { hangUp, SocketTracker } from './sockets.ts'

// More than the request queue holds, so that the queue refuses with an answer before Node drops connections without one.
const maxConnections = 10_000
// Connections that wait in the kernel until they are accepted. Linux caps it at net.core.somaxconn, which is 4096. A
// burst of connections fills Node's default of 511. Then the kernel drops connection attempts, and customers wait a
// second or more for the retransmission, or are reset.
const backlog = 4096
const headersTimeoutMs = 10_000
const requestTimeoutMs = 20_000
const keepAliveMs = 75_000 // longer than the idle timeout of common proxies, so that they close first
const stalledReaderMs = 30_000
const maxHeaderBytes = 16 * 1024
const drainMs = 10_000

// Answers a request that belongs to it and returns true. Returns false for any other request.
export type Answerer = (incoming: IncomingMessage, outgoing: ServerResponse) => boolean

export type Listening = {
  port: number
  serve(first: Answerer, app: Hono<Env>, observe: Observe, baseUrl: string): void
  isStopping(): boolean
  announceStop(): void
  stop(): Promise<void>
}

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => void

const drop: Handle = (_, outgoing) => outgoing.destroy()

// Opens the port before there is an app, because the base URL may depend on the port. Requests that arrive meanwhile
// wait.
export function listen(host: string, port: number, { stallMs = stalledReaderMs } = {}): Promise<Listening> {
  const early: Parameters<Handle>[] = []
  const wait: Handle = (incoming, outgoing) => void early.push([incoming, outgoing])
  let handle = wait
  let refuse = drop
  let baseUrl = ''
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
  const sockets = new SocketTracker(server, stallMs)

  // `first` serves the API and the files. All other requests are pages.
  function serve(first: Answerer, app: Hono<Env>, observe: Observe, ownUrl: string) {
    baseUrl = ownUrl
    const pages = getRequestListener(app.fetch, { hostname: 'localhost' }) // for a request without Host
    handle = (incoming, outgoing) => {
      if (!first(incoming, outgoing)) void pages(incoming, outgoing)
    }
    refuse = refusePipelined(observe, ownUrl)
    for (const exchange of early.splice(0)) handle(...exchange)
  }

  function stop() {
    if (handle === wait) handle = drop
    for (const exchange of early.splice(0)) drop(...exchange)
    return stopServer(server, sockets)
  }

  server.maxConnections = maxConnections
  server.maxHeadersCount = 0 // the bytes are limited; Node would silently drop headers after the thousandth
  server.on('clientError', (error, socket: Socket) => answerBrokenRequest(error, socket, baseUrl))
  server.on('connect', ({ socket }) => {
    if (sockets.hasUnanswered(socket)) socket.destroy()
    else answerConnect(socket, baseUrl)
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, backlog, () => {
      resolve({
        port: (server.address() as AddressInfo).port,
        serve,
        isStopping: () => sockets.isStopping(),
        announceStop: () => sockets.announceStop(),
        stop,
      })
    })
  })
}

const refusePipelined =
  (observe: Observe, baseUrl: string): Handle =>
  ({ method = '' }, outgoing) => {
    const requestId = newRequestId()
    const answer = crowdedAnswer({ requestId, baseUrl })
    sendAnswer(outgoing, answer, requestId)
    const { http, code } = answer
    observe({ requestId, method, route: 'other', http, code, started: performance.now() })
  }

// Closes the port first, then idle connections. Running requests finish, and their answers close the connection.
async function stopServer(server: Server, sockets: SocketTracker): Promise<void> {
  sockets.announceStop()
  await sockets.untilBacklogIsAccepted()
  const closed = new Promise(resolve => NetServer.prototype.close.call(server, resolve)) // only the port
  await sockets.untilQuiet()
  sockets.closeIdle()
  const force = setTimeout(() => server.closeAllConnections(), drainMs)
  await closed
  clearTimeout(force)
  sockets.stopChecking()
  server.close() // also stops Node's timer for slow requests
}

// A request that is not HTTP, has too large a header or arrives too slowly still gets an answer with an id.
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, baseUrl: string) {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [status, code, message] = brokenRequests[error.code ?? ''] ?? notHttp
  answerOnce(socket, [status, code, message], baseUrl)
}

// By default Node destroys the socket of a CONNECT request without an answer.
function answerConnect(socket: Socket, baseUrl: string) {
  socket.on('error', () => socket.destroy())
  answerOnce(socket, ['405 Method Not Allowed', 'method_not_allowed', 'This server is not a proxy.'], baseUrl)
}

function answerOnce(socket: Socket, [status, code, message]: BrokenRequest, baseUrl: string) {
  const requestId = newRequestId()
  const { body } = plainAnswer(Number(status.slice(0, 3)), code, message, { requestId, baseUrl })
  hangUp(
    socket,
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `x-request-id: ${requestId}\r\n${notCachedLines}connection: close\r\n\r\n${body}`,
  )
}

const notCachedLines = Object.entries(notCached)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')

type BrokenRequest = [status: string, code: Code | 'method_not_allowed', message: string]

const brokenRequests: Record<string, BrokenRequest> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'GW-013', 'The request header is too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'GW-012', 'The request arrived too slowly.'],
}
const notHttp: BrokenRequest = ['400 Bad Request', 'GW-012', 'This is not a valid HTTP request.']
