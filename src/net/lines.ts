import { Client } from 'undici'
import type { Connect } from './connect.ts'
import { type Hearing, watchFirstBytes } from './firstBytes.ts'
import type { Target } from './target.ts'

const maxPerOrigin = 8
const maxHeaderBytes = 16 * 1024
const idleMs = 3000 // most servers close at five seconds or later: we hang up first, so that a POST rarely meets it
const idleMarginMs = 1000 // before the time that the server itself has told

// One connection that comes and goes, with the address at its other end. The HTTP library speaks on it.
export type Line = Hearing & {
  client: Client
  key: string
  connected: boolean
  address: string | null
  calling: AbortController // ends a connection that is still being made
}

// `origin`: a target and whether it may be loopback. What one may reach, the other must not find open.
type Origin = { target: Target; lines: Set<Line>; idle: Line[]; waiting: Set<Taker> }
type Taker = (line: Line) => void

export type Lines = ReturnType<typeof createLines>

// The library has a pool of its own, but that does not tell on which connection a request went, and cannot take back
// a request that waits. Callers bound how many wait; each does so for some seconds at most.
export function createLines(connect: Connect, maxIdle: number) {
  const origins = new Map<string, Origin>() // those with a line or with someone who waits for one
  const idle = new Set<Line>() // the one that is idle for longest comes first

  function open(key: string, { target, lines }: Origin): Line {
    const calling = new AbortController()
    const client = new Client(target.origin, {
      pipelining: 1, // with one at a time the library never sends a request again by itself
      maxHeaderSize: maxHeaderBytes,
      headersTimeout: 0, // the deadlines are ours
      bodyTimeout: 0,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMs,
      keepAliveTimeoutThreshold: idleMarginMs,
      connect: (_, done) => {
        connect(target, calling.signal).then(
          ({ socket, address }) => {
            watchFirstBytes(socket, line)
            Object.assign(line, { connected: true, address })
            done(null, socket)
          },
          (error: Error) => done(error, null),
        )
      },
    })
    const line: Line = { client, key, connected: false, address: null, asked: false, heard: false, calling }
    lines.add(line)
    client.on('disconnect', () => {
      line.connected = false
      if (idle.has(line)) drop(line) // else its request fails, or waits for the next connection
    })
    return line
  }

  // Gives a line now or later; call what it gives back to wait no longer.
  function take(target: Target, taker: Taker): () => void {
    const key = `${target.origin} ${target.allowLoopback}`
    const origin = origins.get(key) ?? { target, lines: new Set(), idle: [], waiting: new Set() }
    origins.set(key, origin)
    const free = origin.idle.pop()
    if (free) idle.delete(free)
    if (free) taker(free)
    else if (origin.lines.size < maxPerOrigin) taker(open(key, origin))
    else origin.waiting.add(taker)
    return () => void origin.waiting.delete(taker)
  }

  function giveBack(line: Line) {
    const origin = origins.get(line.key)
    if (!origin?.lines.has(line)) return
    if (!line.connected) return drop(line)
    const next = shift(origin.waiting)
    if (next) return next(line)
    origin.idle.push(line)
    idle.add(line)
    if (idle.size > maxIdle) drop(shift(idle) as Line)
  }

  // For a connection that nobody should use again. Whatever still runs on it ends now.
  function drop(line: Line) {
    const origin = origins.get(line.key)
    if (!origin?.lines.delete(line)) return
    idle.delete(line)
    origin.idle = origin.idle.filter(other => other !== line)
    line.calling.abort()
    void line.client.destroy()
    const next = shift(origin.waiting)
    if (next) next(open(line.key, origin))
    else if (origin.lines.size === 0) origins.delete(line.key)
  }

  async function close() {
    const all = [...origins.values()].flatMap(({ lines }) => [...lines])
    for (const line of all) drop(line)
    await Promise.all(all.map(({ client }) => client.destroy()))
  }

  return { take, giveBack, drop, close }
}

function shift<T>(set: Set<T>): T | undefined {
  for (const first of set) {
    set.delete(first)
    return first
  }
  return undefined
}
