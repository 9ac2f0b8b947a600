import http from 'node:http'
import https from 'node:https'
import { isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Egress } from '../../core/channel/channel.ts'
import { hostOf, openTunnel, outOf } from './tunnel.ts'

const maxAnswerBytes = 64 * 1024

export type Call = {
  method?: string
  headers?: Record<string, string>
  body?: string
  egress?: Egress
  signal: AbortSignal // nobody waits any more
}
// `restMs`: so long the other side wants to be left alone, where it says so.
export type Answered = { http: number; text: string; restMs?: number }

// One request and its answer. A redirect, an endless or a late answer: each is thrown. `leaving` is called before the
// first byte of the request is handed to the connection, and not before that is made, through the proxy too, and, by TLS,
// proven: whatever goes wrong without it, nothing has left. What is not a mere question has a connection of its own,
// because one that was kept may be closed by the other side in the moment in which it is used, and then nobody knows.
export async function exchange(address: string, call: Call, leaving: () => void): Promise<Answered> {
  const url = new URL(address)
  call.signal.throwIfAborted()
  const tunnel = call.egress?.proxy ? await openTunnel(url, call.egress, call.signal) : undefined
  return overWire(url, call, leaving, tunnel)
}

function overWire(url: URL, call: Call, leaving: () => void, tunnel?: Socket): Promise<Answered> {
  const { method = 'GET', body, egress, signal } = call
  const isSecure = url.protocol === 'https:'
  const way = tunnel
    ? { createConnection: () => (isSecure ? secured(tunnel, url) : tunnel) }
    : { ...outOf(egress), agent: method === 'GET' ? undefined : (false as const) }
  return new Promise((resolve, reject) => {
    const headers = { ...call.headers, ...lengthOf(method, body) }
    const request = (isSecure ? https : http).request(url, { method, headers, ...way })
    const leave = () => {
      leaving()
      request.end(body)
    }
    const hangUp = () => {
      reject(signal.reason as Error)
      request.destroy()
    }
    if (signal.aborted) hangUp()
    else signal.addEventListener('abort', hangUp)
    request.on('close', () => signal.removeEventListener('abort', hangUp))
    request.on('socket', socket => {
      if (request.reusedSocket || (tunnel && !isSecure)) leave()
      else socket.once(isSecure ? 'secureConnect' : 'connect', leave)
    })
    request.on('error', error => reject(withWords(error)))
    request.on('response', response => void read(response).then(resolve, reject))
  })
}

// Some providers take nothing whose length they are not told, be it none.
const lengthOf = (method: string, body = '') =>
  method === 'GET' && body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) }

const secured = (socket: Socket, url: URL) => {
  const host = hostOf(url)
  return connectTls({ socket, host, servername: isIP(host) ? '' : host })
}

// Where several addresses were tried in vain, the words stand in each of them.
const withWords = (error: Error) =>
  error instanceof AggregateError && error.errors[0] instanceof Error ? error.errors[0] : error

async function read(response: http.IncomingMessage): Promise<Answered> {
  const { statusCode = 0, headers } = response
  if (statusCode >= 300 && statusCode < 400) {
    response.destroy()
    throw new Error(`HTTP ${statusCode}, which leads elsewhere`)
  }
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength
    if (bytes > maxAnswerBytes) throw new Error('the answer is too long') // which closes it
    chunks.push(chunk)
  }
  return { http: statusCode, text: Buffer.concat(chunks).toString(), ...restOf(headers['retry-after']) }
}

const restOf = (seconds = '') => (/^\d{1,5}$/.test(seconds) ? { restMs: Number(seconds) * 1000 } : {})
