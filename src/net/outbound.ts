import type { Answer } from '../core/delivery.ts'
import { createConnect } from './connect.ts'
import { Exchange } from './exchange.ts'
import { createLines, type Line, type Lines } from './lines.ts'
import { readTarget, type Target } from './target.ts'
import { Trouble } from './trouble.ts'

const defaultMaxSockets = 256

export type OutboundOptions = {
  sourceAddress?: string // local address to send from
  proxy?: string // http://user:password@host:port
  ports?: readonly number[] // open beside 80, 443 and 8443
  nameServers?: readonly string[] // '127.0.0.1:5353'; else the system's
  ca?: string // one more certificate to trust, PEM
  maxSockets?: number // idle connections that are kept
}

export type OutboundRequest = {
  method: 'POST' | 'GET'
  url: string
  headers: Record<string, string>
  body?: string | Buffer
  allowLoopback: boolean // then loopback addresses too, on any port; nothing else
}

export type Outbound = {
  send(request: OutboundRequest): Promise<Answer> // never rejects
  close(): Promise<void> // what is still on its way ends without an answer
}

// HTTP to addresses that strangers gave us: nothing behind our own walls is reached, nothing takes longer than ten
// seconds, nothing that comes back is too large.
export function createOutbound(options: OutboundOptions = {}): Outbound {
  const { ports = [], maxSockets = defaultMaxSockets } = options
  const lines = createLines(createConnect(options), maxSockets)
  const running = new Set<Exchange>()
  let closed = false

  return {
    send(request) {
      const target = readTarget(request.url, request.allowLoopback, ports)
      if (typeof target === 'string') return fail(new Trouble('forbidden_address', target))
      if (closed) return fail(shuttingDown())
      return send(lines, running, target, request)
    },
    async close() {
      closed = true
      for (const exchange of running) exchange.fail(shuttingDown())
      await lines.close()
    },
  }
}

const shuttingDown = () => new Trouble('no_connection', 'this gateway is shutting down')

const fail = (trouble: Trouble) => new Promise<Answer>(resolve => new Exchange(resolve).fail(trouble))

function send(lines: Lines, running: Set<Exchange>, target: Target, request: OutboundRequest) {
  return new Promise<Answer>(resolve => {
    let line: Line | undefined
    let stopWaiting: (() => void) | undefined
    const exchange = new Exchange((answer, reusable) => {
      running.delete(exchange)
      stopWaiting?.()
      // A moment later, as the library is still reading: it must not be given the next request in the middle of this
      // one. But before the caller goes on, who might want the same line again.
      if (line) queueMicrotask(() => (reusable ? lines.giveBack(line as Line) : lines.drop(line as Line)))
      resolve(answer)
    })
    running.add(exchange)
    stopWaiting = lines.take(target, given => {
      line = given
      exchange.begin(given, onTheWire(target, request))
    })
    if (!line) exchange.wait()
  })
}

// Nothing is ever inflated, so that a small answer cannot become a large one.
const onTheWire = ({ path }: Target, { method, headers, body }: OutboundRequest) => ({
  method,
  path,
  headers: { ...headers, 'accept-encoding': 'identity' },
  body,
})
