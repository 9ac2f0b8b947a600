import type { Connect } from './connect.ts'
import { type ConnectionOwner, HttpConnection, type HttpExchange } from './connection.ts'
import type { Endpoint } from './endpoint.ts'
import { NetworkError } from './networkError.ts'

const idleMs = 3000 // most servers close after five seconds or more: we close first, so that a request rarely meets that
const idleMarginMs = 1000 // before the time that the server itself has announced
const sweepMs = 50

export type PoolOptions = {
  maxIdle: number
  // Idle connections do not keep the process alive, so that a command ends when its work is done. Deliveries go without:
  // their client is closed explicitly, and it would cost two more calls for each request.
  unrefIdle: boolean
}

// All connections of one client. Each belongs to one lane, to one origin, and to requests that may or may not reach
// loopback: a connection that was opened for one is not used for another. Requests do not wait for a free connection;
// callers limit how many are in use.
export function createConnectionPool(connect: Connect, { maxIdle, unrefIdle }: PoolOptions) {
  const all = new Set<HttpConnection>()
  const idle = new Set<HttpConnection>() // the one that is idle for longest comes first
  const idleByKey = new Map<string, HttpConnection[]>() // the one that was used last is taken first
  const owner: ConnectionOwner = { keep, drop }
  const unsent: HttpConnection[] = []
  let sweeping: NodeJS.Timeout | undefined

  function send(exchange: HttpExchange, endpoint: Endpoint, lane: string): HttpConnection {
    const key = `${endpoint.guard?.allowLoopback} ${endpoint.origin} ${lane}`
    const free = exchange.limits.ownConnection ? undefined : idleByKey.get(key)?.at(-1)
    if (!free) {
      const connection = add(key)
      connection.open(connect, endpoint, exchange)
      return connection
    }
    wake(free)
    free.exchange = exchange
    if (unsent.length === 0) queueMicrotask(writeAll)
    unsent.push(free)
    return free
  }

  // Requests of one turn are written together, at its end: the receiving process is woken once and not for each.
  function writeAll() {
    for (const connection of unsent.splice(0)) connection.write()
  }

  function add(key: string) {
    const connection = new HttpConnection(key, owner)
    all.add(connection)
    sweeping ??= setInterval(sweep, sweepMs).unref()
    return connection
  }

  function keep(connection: HttpConnection, forMs: number) {
    const ms = Math.min(idleMs, forMs - idleMarginMs)
    if (ms <= 0) return drop(connection)
    connection.idleUntil = performance.now() + ms
    if (unrefIdle) connection.unref()
    idle.add(connection)
    const others = idleByKey.get(connection.key)
    if (others) others.push(connection)
    else idleByKey.set(connection.key, [connection])
    if (idle.size > maxIdle) for (const oldest of idle) return drop(oldest)
  }

  function wake(connection: HttpConnection) {
    if (!idle.delete(connection)) return
    if (unrefIdle) connection.ref()
    const others = idleByKey.get(connection.key) as HttpConnection[]
    if (others.at(-1) === connection) others.pop()
    else others.splice(others.indexOf(connection), 1)
  }

  function drop(connection: HttpConnection) {
    if (!all.delete(connection)) return
    wake(connection)
    connection.destroy()
  }

  // One timer for all deadlines, as most of them are never reached. A deadline before the next sweep has passed now.
  function sweep() {
    const soon = performance.now() + sweepMs
    for (const connection of all)
      if (connection.dueAt() < soon) end(connection, exchange => exchange.expire())
    for (const [key, connections] of idleByKey) if (connections.length === 0) idleByKey.delete(key)
    if (all.size > 0) return
    clearInterval(sweeping)
    sweeping = undefined
  }

  function end(connection: HttpConnection, finish: (exchange: HttpExchange) => void) {
    if (connection.exchange) finish(connection.exchange)
    drop(connection)
  }

  // The caller does not wait any more. The connection may serve another request by now.
  function cancel(connection: HttpConnection, exchange: HttpExchange) {
    if (connection.exchange !== exchange) return
    end(connection, () => exchange.fail(new NetworkError('timeout', 'given up')))
  }

  function close(error: NetworkError) {
    for (const connection of all) end(connection, exchange => exchange.fail(error))
    clearInterval(sweeping)
  }

  return { send, cancel, close }
}
