import type { Socket } from 'node:net'
import type { HttpOutcome } from '../core/notification/delivery.ts'
import type { Connect, OpenSocket } from './connect.ts'
import type { Endpoint } from './endpoint.ts'
import { NetworkError, toNetworkError } from './networkError.ts'
import { ResponseReader } from './response.ts'

// The headers decide the result of a notification. A body that has not ended a second later is not waited for: it would
// occupy the slot of another notification.
const bodyMs = 1000

export type HttpResult = HttpOutcome & {
  code: string // of the failure, such as ECONNREFUSED; empty if there is none
  isComplete: boolean // the body was read to its end
}

export type ExchangeLimits = {
  deadlineMs: number
  maxBodyBytes?: number // of the body to keep; then the body has time until the deadline
  ownConnection?: boolean // no connection is reused for the request, nor kept after it
  maySend?(): boolean // called before the first byte is written; on false nothing is sent
}

// Whether a byte of the request was written to the socket. If not, the server has certainly not received the request. If
// so and no answer was received, the outcome is unknown. Deliveries, providers and SMS all use this definition.
export const wasSent = ({ first_byte_ms }: Pick<HttpOutcome, 'first_byte_ms'>) => first_byte_ms !== null

// One request and its result. It has no timer: the pool calls `expire` at `dueAt`.
export class HttpExchange {
  readonly request: Buffer
  readonly limits: ExchangeLimits
  readonly #begun = performance.now()
  readonly #reader: ResponseReader
  readonly #ended: (result: HttpResult) => void
  #address: string | null = null
  #firstByteMs: number | null = null
  #isAnswered = false
  dueAt: number
  over = false

  constructor(request: Buffer, ended: (result: HttpResult) => void, limits: ExchangeLimits) {
    this.request = request
    this.limits = limits
    this.dueAt = this.#begun + limits.deadlineMs
    this.#ended = ended
    this.#reader = new ResponseReader(limits.maxBodyBytes)
  }

  // Called in the same turn as the first write, and before it.
  markSent(address: string) {
    this.#address = address
    this.#firstByteMs = this.#elapsedMs()
  }

  receive(bytes: Buffer) {
    const reader = this.#reader
    reader.read(bytes)
    if (reader.fault) this.fail(new NetworkError('bad_answer', reader.fault))
    else if (reader.over) this.#end(null)
    else if (reader.head && !this.#isAnswered) {
      this.#isAnswered = true
      if (this.limits.maxBodyBytes !== undefined) return
      this.dueAt = Math.min(this.dueAt, performance.now() + bodyMs)
    }
  }

  // The connection was closed, by the server or by the network.
  closed(error?: Error) {
    if (!error) this.#reader.closed()
    this.fail(toNetworkError(error, this.#reader.hasBytes))
  }

  expire() {
    this.fail(new NetworkError('timeout', this.#timeoutMessage()))
  }

  // A body that breaks off after its headers is not a failure.
  fail(error: NetworkError) {
    this.#end(this.#reader.head ? null : error)
  }

  // For how long the connection may wait for another request; 0 if it cannot be reused.
  keptMs(): number {
    const { head, reusable } = this.#reader
    return head && reusable && !this.limits.ownConnection ? head.keptMs : 0
  }

  #end(error: NetworkError | null) {
    if (this.over) return
    this.over = true
    const { head } = this.#reader
    this.#ended({
      status: head?.status ?? null,
      retry_after: head?.retryAfter ?? null,
      body: head ? this.#reader.body() : null,
      address: this.#address,
      failure: error?.failure ?? null,
      error: error?.message ?? '',
      ms: this.#elapsedMs(),
      first_byte_ms: this.#firstByteMs,
      code: error?.code ?? '',
      isComplete: this.#reader.complete,
    })
  }

  #elapsedMs() {
    return Math.round(performance.now() - this.#begun)
  }

  #timeoutMessage() {
    const within = `in ${this.limits.deadlineMs / 1000} s`
    if (this.#firstByteMs === null) return `no connection ${within}`
    return this.#reader.hasBytes ? `the answer did not begin properly ${within}` : `no answer ${within}`
  }
}

// The pool. `keep` is called when a connection becomes idle, `drop` when it can no longer be used.
export type ConnectionOwner = {
  keep(connection: HttpConnection, forMs: number): void
  drop(connection: HttpConnection): void
}

// One connection, with one request at a time on it. A request is written once: whatever happens to the connection, it is
// never written again on another one.
//
// connecting -> busy -> idle -> busy -> ... -> closed
//
// A connection has an exchange while it is connecting or busy. An idle one is closed at `idleUntil`.
export class HttpConnection {
  state: 'connecting' | 'busy' | 'idle' | 'closed' = 'connecting'
  readonly key: string
  readonly #owner: ConnectionOwner
  readonly #connecting = new AbortController()
  #socket: Socket | undefined
  #address = ''
  exchange: HttpExchange | undefined
  idleUntil = 0

  constructor(key: string, owner: ConnectionOwner) {
    this.key = key
    this.#owner = owner
  }

  // Connects, and sends the request when that is done.
  open(connect: Connect, endpoint: Endpoint, exchange: HttpExchange) {
    this.exchange = exchange
    connect(endpoint, this.#connecting.signal).then(
      opened => this.#opened(opened, exchange),
      (error: Error) => this.#close(error),
    )
  }

  reuse(exchange: HttpExchange) {
    this.state = 'busy'
    this.exchange = exchange
  }

  rest(until: number) {
    this.state = 'idle'
    this.idleUntil = until
  }

  // The only place that writes a request.
  write() {
    const { exchange } = this
    if (!exchange || exchange.over) return
    if (exchange.limits.maySend?.() === false)
      return this.#close(
        new NetworkError('no_connection', 'the caller withdrew the request before it was sent'),
      )
    exchange.markSent(this.#address)
    this.#socket?.write(exchange.request)
  }

  destroy() {
    this.state = 'closed'
    this.#connecting.abort()
    this.#socket?.destroy()
  }

  ref() {
    this.#socket?.ref()
  }

  unref() {
    this.#socket?.unref()
  }

  dueAt() {
    return this.exchange ? this.exchange.dueAt : this.idleUntil
  }

  // The listeners stay: a socket that has ended may still emit an error, which would end the process.
  #opened({ socket, address, listen }: OpenSocket, exchange: HttpExchange) {
    this.#socket = socket
    this.#address = address
    socket.on('error', error => this.#close(error)).on('close', () => this.#close())
    if (performance.now() >= exchange.dueAt) exchange.expire() // the process was paused: another node may send the request by now
    if (exchange.over) socket.destroy() // it ended while the connection was made
    if (socket.destroyed) return this.#close(socket.errored ?? undefined) // its events may be over already
    socket.on('end', () => this.#close())
    this.state = 'busy'
    this.write()
    listen(bytes => this.#receive(bytes))
  }

  #receive(bytes: Buffer) {
    const { exchange } = this
    if (!exchange) return this.#owner.drop(this) // bytes without a request
    exchange.receive(bytes)
    if (exchange.over) this.#finish(exchange.keptMs())
  }

  // If an answer arrived before the whole request was written, it is unclear where the next answer begins.
  #finish(keptMs: number) {
    this.exchange = undefined
    if (keptMs > 0 && this.#socket?.writableLength === 0) this.#owner.keep(this, keptMs)
    else this.#owner.drop(this)
  }

  #close(error?: Error) {
    this.exchange?.closed(error)
    this.exchange = undefined
    this.#owner.drop(this)
  }
}
