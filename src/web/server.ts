import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { newRequestId } from '../actions/ids.ts'
import type { Api } from './api/api.ts'
import type { createApp } from './app.ts'
import { plainAnswer } from './errors.ts'

const maxConnections = 10_000 // more than may queue, so that the queue refuses in words before this does without
const headersTimeoutMs = 10_000
const requestTimeoutMs = 20_000
const keepAliveMs = 75_000 // longer than the idle time of common proxies, so that they close first
const maxHeaderBytes = 16 * 1024
const drainMs = 10_000

type App = ReturnType<typeof createApp>
export type Listening = { port: number; serve(api: Api, app: App): void; stop(): Promise<void> }

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => void

// Takes the port first and serves later, because some of what is served has to know the port. Who comes in between
// waits.
export function listen(host: string, port: number): Promise<Listening> {
  const early: Parameters<Handle>[] = []
  let handle: Handle = (incoming, outgoing) => void early.push([incoming, outgoing])
  const limits = {
    headersTimeout: headersTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    maxHeaderSize: maxHeaderBytes,
    connectionsCheckingInterval: 2000,
  }
  const server = createServer(limits, (incoming, outgoing) => handle(incoming, outgoing))

  // The interface answers first; what is not its address is a page.
  function serve(api: Api, app: App) {
    const pages = getRequestListener(app.fetch, { hostname: host })
    handle = (incoming, outgoing) => {
      if (!api(incoming, outgoing)) void pages(incoming, outgoing)
    }
    for (const exchange of early.splice(0)) handle(...exchange)
  }

  server.maxConnections = maxConnections
  server.on('clientError', answerBrokenRequest)
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      resolve({ port: (server.address() as AddressInfo).port, serve, stop: () => stopServer(server) })
    })
  })
}

// What is not HTTP, has too large a header or came too slowly still gets an answer with an id.
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Duplex) {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const [status, words] = brokenRequests[error.code ?? ''] ?? [
    '400 Bad Request',
    'This is not a valid HTTP request.',
  ]
  const request_id = newRequestId()
  const http = Number(status.slice(0, 3))
  const { body } = plainAnswer(http, http === 431 ? 'GW-013' : 'GW-012', words, request_id)
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `x-request-id: ${request_id}\r\nconnection: close\r\n\r\n${body}`,
  )
}

const brokenRequests: Record<string, [string, string]> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The request header is too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request came too slowly.'],
}

// Lets running requests finish; idle connections are closed at once.
function stopServer(server: Server): Promise<void> {
  return new Promise(resolve => {
    const force = setTimeout(() => server.closeAllConnections(), drainMs)
    server.close(() => {
      clearTimeout(force)
      resolve()
    })
    server.closeIdleConnections()
  })
}
