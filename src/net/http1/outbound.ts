import type { HttpOutcome } from '../../core/notification/delivery.ts'
import { createConnect } from '../connect.ts'
import { rememberTargets } from '../target.ts'
import { type Failure, Trouble } from '../trouble.ts'
import { createConnectionPool } from './connectionPool.ts'
import { Exchange } from './exchange.ts'
import { requestBytes } from './requestBytes.ts'

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
  lane: string // connections are kept for it alone: the caller's unit of isolation
  mostKept?: number // bytes of the answer's body that are wanted: then there is time for them up to the deadline
  mayLeave?(): boolean // asked before the first byte; without a yes nothing is sent
  allowLoopback: boolean // then loopback addresses too, on any port; nothing else
}

export type Outbound = {
  send(request: OutboundRequest): Promise<HttpOutcome> // never rejects
  close(): Promise<void> // what is still on its way ends without an answer
}

// HTTP to addresses that strangers gave us: nothing behind our own walls is reached, nothing takes longer than ten
// seconds, nothing that comes back is too large.
export function createOutbound(options: OutboundOptions = {}): Outbound {
  const { ports = [], maxSockets = defaultMaxSockets } = options
  const targets = rememberTargets(ports)
  const lines = createConnectionPool(createConnect(options), maxSockets)
  let closed = false

  return {
    send(request) {
      const target = targets.read(request.url, request.allowLoopback)
      if (typeof target === 'string') return fail('forbidden_address', target)
      const bytes = requestBytes(target, request)
      if (typeof bytes === 'string') return fail('no_connection', bytes)
      if (closed) return fail('no_connection', shuttingDown)
      return new Promise(resolve => lines.carry(new Exchange(bytes, resolve, request), target, request.lane))
    },
    async close() {
      closed = true
      lines.close(new Trouble('no_connection', shuttingDown))
    },
  }
}

const shuttingDown = 'this gateway is shutting down'

const fail = (failure: Failure, words: string) =>
  Promise.resolve<HttpOutcome>({
    status: null,
    retry_after: null,
    body: null,
    address: null,
    failure,
    words,
    ms: 0,
    first_byte_ms: null,
  })
