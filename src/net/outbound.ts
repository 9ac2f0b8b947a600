import type { HttpOutcome } from '../core/notification/delivery.ts'
import { tryDeadlineMs } from '../core/notification/schedule.ts'
import type { OperatorUrl, UntrustedUrl } from '../core/urlTrust.ts'
import { type ConnectOptions, createConnect } from './connect.ts'
import { type ExchangeLimits, HttpExchange, type HttpResult } from './connection.ts'
import { ConnectionPool, type PoolOptions } from './connectionPool.ts'
import { createEndpointCache, type Endpoint, operatorEndpoint } from './endpoint.ts'
import { type RequestFailure, NetworkError } from './networkError.ts'

const defaultMaxSockets = 256
const operatorMaxSockets = 32
const maxAnswerBytes = 64 * 1024

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

type RequestParts = {
  method: HttpMethod
  headers: Record<string, string>
  body?: string | Buffer
}

export type OutboundOptions = ConnectOptions & {
  ports?: readonly number[] // open in addition to 80, 443 and 8443
  maxSockets?: number // idle connections that are kept
}

export type OutboundRequest = RequestParts & {
  url: UntrustedUrl
  lane: string // connections are kept for it alone: the caller's unit of isolation
  maxBodyBytes?: number // of the body to keep; then the body has time until the deadline
  maySend?(): boolean // called before the first byte is written; on false nothing is sent
  allowLoopback: boolean // allows loopback addresses too, on any port; nothing else
}

export type Outbound = {
  send(request: OutboundRequest): Promise<HttpOutcome> // never rejects
  close(): Promise<void> // requests in flight end without an answer
}

// HTTP to addresses that merchants and customers chose, always with the address guard. A request takes ten seconds at
// most, and only the beginning of an answer is read. Redirects are not followed.
export function createOutbound(options: OutboundOptions = {}): Outbound {
  const { ports = [], maxSockets = defaultMaxSockets } = options
  const endpoints = createEndpointCache(ports)
  const { start, close } = createClient(options, { maxIdle: maxSockets, unrefIdle: false })
  return {
    send(request) {
      const endpoint = endpoints.read(request.url, request.allowLoopback)
      if (typeof endpoint === 'string') return notSent('forbidden_address', endpoint)
      const { maxBodyBytes, maySend } = request
      const limits = { deadlineMs: tryDeadlineMs, maxBodyBytes, maySend }
      return start(endpoint, request, limits, request.lane)
    },
    close,
  }
}

export type OperatorRequest = RequestParts & {
  url: OperatorUrl
  ownConnection?: boolean // no connection is reused for the request, nor kept after it
  deadlineMs?: number // without it, only the signal ends the request
  signal?: AbortSignal
}

type OperatorClient = {
  send(request: OperatorRequest): Promise<HttpResult> // never rejects
  close(): Promise<void>
}

// HTTP to addresses that the operator chose: providers and SMS gateways. The address guard is off, because they may be
// inside the operator's network. Redirects are not followed, and 64 KiB of an answer are read.
export function createOperatorClient(
  options: Pick<ConnectOptions, 'sourceAddress' | 'proxy'>,
): OperatorClient {
  const { start, close } = createClient(options, { maxIdle: operatorMaxSockets, unrefIdle: true })
  return {
    send({ url, ownConnection, deadlineMs = Number.POSITIVE_INFINITY, signal, ...parts }) {
      const endpoint = operatorEndpoint(url)
      if (typeof endpoint === 'string') return notSent('no_connection', endpoint)
      const limits = { deadlineMs, maxBodyBytes: maxAnswerBytes, ownConnection }
      return start(endpoint, parts, limits, '', signal)
    },
    close,
  }
}

const shuttingDown = 'this gateway is shutting down'

// The part that both clients share.
function createClient(options: ConnectOptions, poolOptions: PoolOptions) {
  const pool = new ConnectionPool(createConnect(options), poolOptions)
  let isClosed = false

  function start(
    endpoint: Endpoint,
    parts: RequestParts,
    limits: ExchangeLimits,
    lane: string,
    signal?: AbortSignal,
  ): Promise<HttpResult> {
    const bytes = requestBytes(endpoint, parts, limits.ownConnection === true)
    if (typeof bytes === 'string') return notSent('no_connection', bytes)
    if (isClosed) return notSent('no_connection', shuttingDown)
    if (!signal)
      return new Promise(resolve => void pool.send(new HttpExchange(bytes, resolve, limits), endpoint, lane))
    if (signal.aborted) return notSent('timeout', 'cancelled')
    return new Promise(resolve => {
      const ended = (result: HttpResult) => {
        signal.removeEventListener('abort', cancel)
        resolve(result)
      }
      const exchange = new HttpExchange(bytes, ended, limits)
      const connection = pool.send(exchange, endpoint, lane)
      const cancel = () => pool.cancel(connection, exchange)
      signal.addEventListener('abort', cancel)
    })
  }

  async function close() {
    isClosed = true
    pool.close(new NetworkError('no_connection', shuttingDown))
  }

  return { start, close }
}

const notSent = (failure: RequestFailure, message: string) =>
  Promise.resolve<HttpResult>({
    status: null,
    retry_after: null,
    body: null,
    address: null,
    failure,
    error: message,
    ms: 0,
    first_byte_ms: null,
    code: '',
    isComplete: false,
  })

// Headers that only the client itself sets, because the framing of the connection depends on them.
export const clientHeaders: ReadonlySet<string> = new Set(
  'accept-encoding connection content-length expect host keep-alive te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
)
const nameShape = /^[!#$%&'*+.^_`|~0-9a-z-]+$/
const valueShape = /^[\t\x20-\x7e\x80-\xff]*$/

// Names that passed the check, because requests repeat the same few.
const checkedNames = new Set<string>()
const maxCheckedNames = 100

function isAllowedName(name: string): boolean {
  if (checkedNames.has(name)) return true
  if (!nameShape.test(name) || clientHeaders.has(name)) return false
  if (checkedNames.size < maxCheckedNames) checkedNames.add(name)
  return true
}

// A whole request in one buffer, so that it is sent in one packet if it fits. Returns an error text if a header is
// invalid. Compression is refused, so that a small answer cannot become a large one.
function requestBytes(
  endpoint: Endpoint,
  { method, headers, body = '' }: RequestParts,
  closes: boolean,
): Buffer | string {
  const connection = closes ? 'close' : 'keep-alive'
  let head = `${method} ${endpoint.path} HTTP/1.1\r\nhost: ${endpoint.authority}\r\nconnection: ${connection}\r\n`
  for (const name of Object.keys(headers)) {
    const value = headers[name] as string
    if (!isAllowedName(name) || !valueShape.test(value)) return `invalid ${name} header`
    head += `${name}: ${value}\r\n`
  }
  head += 'accept-encoding: identity\r\n'
  const length = Buffer.byteLength(body)
  // Some providers refuse a POST without a length, even without a body.
  if (method !== 'GET' || length > 0) head += `content-length: ${length}\r\n`
  return concat(`${head}\r\n`, body, length)
}

function concat(head: string, body: string | Buffer, length: number) {
  const bytes = Buffer.allocUnsafe(head.length + length)
  bytes.write(head, 'latin1')
  if (typeof body === 'string') bytes.write(body, head.length)
  else body.copy(bytes, head.length)
  return bytes
}
