import type { Connect } from '../connect.ts'
import type { Target } from '../target.ts'
import type { Trouble } from '../trouble.ts'
import { Connection, type Keeper } from './connection.ts'
import type { Exchange } from './exchange.ts'

const idleMs = 3000 // most servers close at five seconds or later: we hang up first, so that a POST rarely meets it
const idleMarginMs = 1000 // before the time that the server itself has told
const sweepMs = 50

export type ConnectionPool = ReturnType<typeof createConnectionPool>

// All connections. Each belongs to one lane, to one origin, and to those who may or may not reach loopback: what one
// has opened, another does not find. Nobody waits for a free one; callers bound how many are in use.
export function createConnectionPool(connect: Connect, maxIdle: number) {
  const all = new Set<Connection>()
  const idle = new Set<Connection>() // the one that is idle for longest comes first
  const idleByKey = new Map<string, Connection[]>() // the one that was used last is taken first
  const keeper: Keeper = { keep, drop }
  const departing: Connection[] = []
  let sweeping: NodeJS.Timeout | undefined

  function carry(exchange: Exchange, target: Target, lane: string) {
    const key = `${target.allowLoopback} ${target.origin} ${lane}`
    const free = idleByKey.get(key)?.at(-1)
    if (!free) return open(key).call(connect, target, exchange)
    wake(free)
    free.exchange = exchange
    if (departing.length === 0) queueMicrotask(leave)
    departing.push(free)
  }

  // Requests of one turn leave together, at its end: the other side is woken once and not for each.
  function leave() {
    for (const connection of departing.splice(0)) connection.leave()
  }

  function open(key: string) {
    const connection = new Connection(key, keeper)
    all.add(connection)
    sweeping ??= setInterval(sweep, sweepMs).unref()
    return connection
  }

  function keep(connection: Connection, forMs: number) {
    const ms = Math.min(idleMs, forMs - idleMarginMs)
    if (ms <= 0) return drop(connection)
    connection.idleUntil = performance.now() + ms
    idle.add(connection)
    const others = idleByKey.get(connection.key)
    if (others) others.push(connection)
    else idleByKey.set(connection.key, [connection])
    if (idle.size > maxIdle) for (const oldest of idle) return drop(oldest)
  }

  function wake(connection: Connection) {
    if (!idle.delete(connection)) return
    const others = idleByKey.get(connection.key) as Connection[]
    if (others.at(-1) === connection) others.pop()
    else others.splice(others.indexOf(connection), 1)
  }

  function drop(connection: Connection) {
    if (!all.delete(connection)) return
    wake(connection)
    connection.hangUp()
  }

  // One timer for all deadlines, as most of them are never met. What would be late at its next round is late now.
  function sweep() {
    const soon = performance.now() + sweepMs
    for (const connection of all) if (connection.dueAt() < soon) end(connection, exchange => exchange.late())
    for (const [key, connections] of idleByKey) if (connections.length === 0) idleByKey.delete(key)
    if (all.size > 0) return
    clearInterval(sweeping)
    sweeping = undefined
  }

  function end(connection: Connection, say: (exchange: Exchange) => void) {
    if (connection.exchange) say(connection.exchange)
    drop(connection)
  }

  function close(trouble: Trouble) {
    for (const connection of all) end(connection, exchange => exchange.fail(trouble))
    clearInterval(sweeping)
  }

  return { carry, close }
}
