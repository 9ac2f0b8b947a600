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
    for (const line of departing.splice(0)) line.leave()
  }

  function open(key: string) {
    const line = new Connection(key, keeper)
    all.add(line)
    sweeping ??= setInterval(sweep, sweepMs).unref()
    return line
  }

  function keep(line: Connection, forMs: number) {
    const ms = Math.min(idleMs, forMs - idleMarginMs)
    if (ms <= 0) return drop(line)
    line.idleUntil = performance.now() + ms
    idle.add(line)
    const others = idleByKey.get(line.key)
    if (others) others.push(line)
    else idleByKey.set(line.key, [line])
    if (idle.size > maxIdle) for (const oldest of idle) return drop(oldest)
  }

  function wake(line: Connection) {
    if (!idle.delete(line)) return
    const others = idleByKey.get(line.key) as Connection[]
    if (others.at(-1) === line) others.pop()
    else others.splice(others.indexOf(line), 1)
  }

  function drop(line: Connection) {
    if (!all.delete(line)) return
    wake(line)
    line.hangUp()
  }

  // One timer for all deadlines, as most of them are never met. What would be late at its next round is late now.
  function sweep() {
    const soon = performance.now() + sweepMs
    for (const line of all) if (line.dueAt() < soon) end(line, exchange => exchange.late())
    for (const [key, lines] of idleByKey) if (lines.length === 0) idleByKey.delete(key)
    if (all.size > 0) return
    clearInterval(sweeping)
    sweeping = undefined
  }

  function end(line: Connection, say: (exchange: Exchange) => void) {
    if (line.exchange) say(line.exchange)
    drop(line)
  }

  function close(trouble: Trouble) {
    for (const line of all) end(line, exchange => exchange.fail(trouble))
    clearInterval(sweeping)
  }

  return { carry, close }
}
