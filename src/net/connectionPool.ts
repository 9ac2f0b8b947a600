import type { Connect } from './connect.ts'
import { type ConnectionOwner, HttpConnection, type HttpExchange } from './connection.ts'
import type { Endpoint } from './endpoint.ts'
import { NetworkError } from './networkError.ts'

const idleMs = 3000 // most servers close after five seconds or more; closing first avoids sending into a closing connection
const idleMarginMs = 1000 // before the time that the server itself has announced
const sweepMs = 50

export type PoolOptions = {
  maxIdle: number
  // Idle connections do not keep the process alive, so that a command ends when its work is done. The client of deliveries
  // does not use it: that client is closed explicitly, and two more calls for each request would slow it down.
  unrefIdle: boolean
}

// All connections of one client. Each belongs to one lane, to one origin, and to requests that may or may not reach
// loopback: a connection that was opened for one is not used for another. Requests do not wait for a free connection;
// callers limit how many are in use.
export class ConnectionPool implements ConnectionOwner {
  readonly #connect: Connect
  readonly #options: PoolOptions
  readonly #all = new Set<HttpConnection>()
  readonly #idle = new IdleConnections()
  readonly #unsent: HttpConnection[] = []
  #sweeping: NodeJS.Timeout | undefined

  constructor(connect: Connect, options: PoolOptions) {
    this.#connect = connect
    this.#options = options
  }

  send(exchange: HttpExchange, endpoint: Endpoint, lane: string): HttpConnection {
    const key = `${endpoint.guard?.allowLoopback} ${endpoint.origin} ${lane}`
    const idle = exchange.limits.ownConnection ? undefined : this.#idle.newest(key)
    if (idle) {
      this.#wake(idle)
      idle.reuse(exchange)
      this.#writeLater(idle)
      return idle
    }
    const connection = new HttpConnection(key, this)
    this.#all.add(connection)
    this.#sweeping ??= setInterval(() => this.#sweep(), sweepMs).unref()
    connection.open(this.#connect, endpoint, exchange)
    return connection
  }

  // The caller does not wait any more. The connection may serve another request by now.
  cancel(connection: HttpConnection, exchange: HttpExchange) {
    if (connection.exchange !== exchange) return
    exchange.fail(new NetworkError('timeout', 'cancelled'))
    this.drop(connection)
  }

  close(error: NetworkError) {
    for (const connection of this.#all) {
      connection.exchange?.fail(error)
      this.drop(connection)
    }
    clearInterval(this.#sweeping)
  }

  keep(connection: HttpConnection, forMs: number) {
    const ms = Math.min(idleMs, forMs - idleMarginMs)
    if (ms <= 0) return this.drop(connection)
    connection.rest(performance.now() + ms)
    if (this.#options.unrefIdle) connection.unref()
    this.#idle.add(connection)
    const oldest = this.#idle.size > this.#options.maxIdle ? this.#idle.oldest() : undefined
    if (oldest) this.drop(oldest)
  }

  drop(connection: HttpConnection) {
    if (!this.#all.delete(connection)) return
    this.#wake(connection)
    connection.destroy()
  }

  #wake(connection: HttpConnection) {
    if (connection.state !== 'idle') return
    this.#idle.remove(connection)
    if (this.#options.unrefIdle) connection.ref()
  }

  // The requests of one turn of the event loop are written together at its end, so that a receiving process wakes up once.
  #writeLater(connection: HttpConnection) {
    if (this.#unsent.length === 0)
      queueMicrotask(() => {
        for (const each of this.#unsent.splice(0)) each.write()
      })
    this.#unsent.push(connection)
  }

  // One timer for all deadlines, because most of them are never reached. A deadline before the next sweep counts as passed.
  #sweep() {
    const soon = performance.now() + sweepMs
    for (const connection of this.#all)
      if (connection.dueAt() < soon) {
        connection.exchange?.expire()
        this.drop(connection)
      }
    this.#idle.forgetEmptyKeys()
    if (this.#all.size > 0) return
    clearInterval(this.#sweeping)
    this.#sweeping = undefined
  }
}

class IdleConnections {
  readonly #all = new Set<HttpConnection>() // in the order in which they became idle
  readonly #byKey = new Map<string, HttpConnection[]>() // in the same order

  get size() {
    return this.#all.size
  }

  newest(key: string): HttpConnection | undefined {
    return this.#byKey.get(key)?.at(-1)
  }

  oldest(): HttpConnection | undefined {
    return this.#all.values().next().value
  }

  add(connection: HttpConnection) {
    this.#all.add(connection)
    const sameKey = this.#byKey.get(connection.key)
    if (sameKey) sameKey.push(connection)
    else this.#byKey.set(connection.key, [connection])
  }

  remove(connection: HttpConnection) {
    this.#all.delete(connection)
    const sameKey = this.#byKey.get(connection.key) ?? []
    if (sameKey.at(-1) === connection) sameKey.pop()
    else sameKey.splice(sameKey.indexOf(connection), 1)
  }

  forgetEmptyKeys() {
    for (const [key, connections] of this.#byKey) if (connections.length === 0) this.#byKey.delete(key)
  }
}
