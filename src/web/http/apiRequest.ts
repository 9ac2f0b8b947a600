import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'

// A request of the interface and the answer to it. They are plain data on Node's own HTTP: the interface is the
// hot path, and a web framework around it would cost as much as all of its own work.
export type Exchange = {
  incoming: IncomingMessage
  method: string
  query: string // what follows the question mark
  requestId: string
  address: string
}

export type ApiAnswer = {
  http: number
  type?: string // none for an answer without a body
  body: string
  headers?: Record<string, string>
  merchant_id?: string // for the log
  code?: string // of a refusal, for the log
  cause?: string // what is behind it, for the log alone
}

export const jsonType = 'application/json'
export const textType = 'text/plain; charset=UTF-8'
export const htmlType = 'text/html; charset=UTF-8'

// The address that asks. Behind proxies it is the one that the outermost trusted proxy saw.
export function addressOf(incoming: IncomingMessage, trustedProxies: number): string {
  const socket = incoming.socket.remoteAddress ?? 'unknown'
  if (trustedProxies === 0) return socket
  const forwarded = String(incoming.headers['x-forwarded-for'] ?? '').split(',')
  return withoutPort(forwarded.at(-trustedProxies)?.trim() ?? '') ?? socket
}

// Some proxies add the port, and a new connection has a new one. What is no address is nobody's.
function withoutPort(text: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[(.+)\]|(\d[\d.]+))(?::\d+)?$/.exec(text) ?? []
  const address = bracketed ?? plain ?? text
  return isIP(address) > 0 ? address : undefined
}

// Says how payments stand: nobody on the way keeps it, or takes it for anything but what it is.
export const notKept = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

// The head is one object that is filled in: to spread others into it takes noticeably longer, and every answer has one.
export function sendAnswer(
  outgoing: ServerResponse,
  { http, type, body, headers }: ApiAnswer,
  requestId: string,
) {
  const head: Record<string, string | number> = {
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    'cache-control': notKept['cache-control'],
    'x-content-type-options': notKept['x-content-type-options'],
  }
  if (type !== undefined) head['content-type'] = type
  if (headers) Object.assign(head, headers)
  outgoing.writeHead(http, head)
  outgoing.end(body)
}

// A slash at the end changes nothing.
export function splitUrl(url: string): [path: string, query: string] {
  const at = url.indexOf('?')
  const path = at === -1 ? url : url.slice(0, at)
  return [
    path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path,
    at === -1 ? '' : url.slice(at + 1),
  ]
}
