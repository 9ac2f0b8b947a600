import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { HttpOutcome } from '../../src/core/notification/delivery.ts'
import { createOutbound, type OutboundOptions, type OutboundRequest } from '../../src/net/outbound.ts'
import { afterFile } from '../support/vitest/afterFile.ts'

export const later = afterFile

export type Listener = { port: number; url: string; connections: number; sockets: Set<Socket> }

// A listener on loopback that counts its connections. `serve` gets every connection.
export function listen(serve: (socket: Socket) => unknown, host = '127.0.0.1'): Promise<Listener> {
  return listenOn(createServer(), 'connection', serve, host)
}

export async function listenOn(
  server: Server,
  event: 'connection' | 'secureConnection',
  serve: (socket: Socket) => unknown,
  host = '127.0.0.1',
): Promise<Listener> {
  const listener: Listener = { port: 0, url: '', connections: 0, sockets: new Set() }
  server.on('connection', (socket: Socket) => {
    listener.connections++
    listener.sockets.add(socket)
    socket.on('error', () => {}).on('close', () => listener.sockets.delete(socket))
  })
  server.on(event, (socket: Socket) => {
    socket.on('error', () => {})
    serve(socket)
  })
  await new Promise<void>(resolve => server.listen(0, host, resolve))
  listener.port = (server.address() as AddressInfo).port
  listener.url = `http://${host.includes(':') ? `[${host}]` : host}:${listener.port}/`
  later(() => {
    server.close()
    for (const socket of listener.sockets) socket.destroy()
  })
  return listener
}

// Waits for a whole request each time, then calls `answer`.
export function onRequest(answer: (socket: Socket, request: string) => unknown) {
  return (socket: Socket) => {
    let received = ''
    socket.on('data', chunk => {
      received += chunk.toString('latin1')
      const end = received.indexOf('\r\n\r\n') + 4
      const [, length = '0'] = /content-length: (\d+)/i.exec(received) ?? []
      if (end < 4 || received.length < end + Number(length)) return
      const request = received
      received = ''
      answer(socket, request)
    })
  }
}

export const answering = (text: string | Buffer) => onRequest(socket => void socket.write(text))
export const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

export function outbound(options: OutboundOptions = {}) {
  const made = createOutbound(options)
  later(made.close)
  return made
}

let shared: ReturnType<typeof outbound> | undefined
function sharedByFile() {
  if (!shared) later(() => void (shared = undefined))
  return (shared ??= outbound())
}

export const request = (url: string, more: Partial<OutboundRequest> = {}): OutboundRequest => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json' },
  body: '{"status":"paid"}',
  lane: 'ama',
  allowLoopback: true,
  ...more,
})

export const post = (url: string, more: Partial<OutboundRequest> = {}): Promise<HttpOutcome> =>
  sharedByFile().send(request(url, more))

// For events that happen a moment later.
export const patience = { timeout: 20_000 }

export const sleep = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
