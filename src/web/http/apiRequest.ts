import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import type { Fields } from '../../core/interface/json.ts'
import type { Refusal } from '../../core/interface/refusal.ts'

// A request to the API and its answer: plain data on Node's HTTP server. The API is the hot path, and a web framework
// would cost as much as all of its own work.
export type Exchange = {
  incoming: IncomingMessage
  method: string
  query: string // without the question mark
  requestId: string
  baseUrl: string
  address: string
  lastPart?: string // of the path, if the address of the route ends with a parameter
  fields: Fields | undefined // set when they are read, for the request log
}

export type ApiAnswer = {
  http: number
  type?: string // none without a body
  body: string
  headers?: Record<string, string>
  merchant_id?: string // for the log
  code?: string // of a refusal, for the log
  cause?: string // for the log only
  refusal?: Refusal // for the request log
}

export const jsonType = 'application/json'
export const textType = 'text/plain; charset=UTF-8'
export const htmlType = 'text/html; charset=UTF-8'

// The client's address. Behind proxies it is the one that the outermost trusted proxy saw.
export function addressOf(incoming: IncomingMessage, trustedProxies: number): string {
  const socket = incoming.socket.remoteAddress ?? 'unknown'
  if (trustedProxies === 0) return socket
  const forwarded = String(incoming.headers['x-forwarded-for'] ?? '').split(',')
  return withoutPort(forwarded.at(-trustedProxies)?.trim() ?? '') ?? socket
}

// Some proxies add the port, which differs for each connection. Undefined if the text is not an address.
function withoutPort(text: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[(.+)\]|(\d[\d.]+))(?::\d+)?$/.exec(text) ?? []
  const address = bracketed ?? plain ?? text
  return isIP(address) > 0 ? address : undefined
}

// Answers contain the state of payments, so nothing caches them or guesses another content type.
export const notCached = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

// The object is filled step by step, because spreading is measurably slower and every answer passes here.
export function sendAnswer(
  outgoing: ServerResponse,
  { http, type, body, headers }: ApiAnswer,
  requestId: string,
) {
  const head: Record<string, string | number> = {
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    'cache-control': notCached['cache-control'],
    'x-content-type-options': notCached['x-content-type-options'],
  }
  if (type !== undefined) head['content-type'] = type
  if (headers) Object.assign(head, headers)
  outgoing.writeHead(http, head)
  outgoing.end(body)
}

// A trailing slash is ignored.
export function splitUrl(url: string): [path: string, query: string] {
  const at = url.indexOf('?')
  const path = at === -1 ? url : url.slice(0, at)
  return [
    path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path,
    at === -1 ? '' : url.slice(at + 1),
  ]
}

// Browsers name text/html; programs accept anything or ask for JSON.
export const acceptsHtml = (accept: string | undefined) => accept?.includes('text/html') ?? false

export const acceptsJson = (accept: string | undefined) =>
  !acceptsHtml(accept) && (accept?.includes('application/json') ?? false)
