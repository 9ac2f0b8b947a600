import { Agent, type ClientRequest, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { socketsOf } from './watch.ts'

// What an attacker can know about the gateway.
export type Target = {
  port: number
  pid: number // of the gateway
  sockets: number // the most at once
  merchant_key: string // of the honest shop: it is public in web forms
  invoice_id: string // of an honest payment
  own: { merchant_key: string; secret_key: string; token: string } // the attacker is also a merchant
}

export type HostileRequest = {
  method?: string
  path: string
  headers?: Record<string, string>
  body?: string | Buffer
}

// `answers` counts by HTTP status, or by error if there was no answer.
export type Tally = { sent: number; answers: Record<string, number> }

export type Attack = { what: string; run(crowd: Crowd): Promise<void> }
export type Crowd = ReturnType<typeof gatherCrowd>

// The source addresses of attacks. Honest clients use the first one, too: both are behind one NAT.
export const attackerAddresses = Array.from({ length: 49 }, (_, n) => `127.0.0.${n + 2}`)
const floodAddresses = attackerAddresses.slice(0, 4) // few, so that each uses up its rate limit

// A flood that takes the whole CPU must be stopped by the proxy in front of the gateway. So an attack sends at most this
// much, and less on a slow machine.
export const requestsPerSecond = 1000
const socketsPerSecond = 1000
const maxInFlight = 64
const tickMs = 10
const floodMs = 1500
const openingMs = 20_000
const answerMs = 10_000
const lastAnswersMs = 5000

// Opens and counts the sockets and requests of one attack.
export function gatherCrowd(target: Target) {
  const tally: Tally = { sent: 0, answers: {} }
  const sockets = new Set<Socket>()
  const count = (what: string) => void (tally.answers[what] = (tally.answers[what] ?? 0) + 1)

  function open(n: number, allowHalfOpen = false): Socket {
    const localAddress = attackerAddresses[n % attackerAddresses.length]
    const socket = connect({
      port: target.port,
      host: '127.0.0.1',
      localAddress,
      noDelay: true,
      allowHalfOpen,
    })
    sockets.add(socket)
    socket.on('data', chunk => {
      for (const [, http = ''] of chunk.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3}) /g)) count(http)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => count(error.code ?? error.message))
    socket.on('close', () => sockets.delete(socket))
    tally.sent++
    return socket
  }

  // Opens sockets at a steady rate, and calls `begin` for each when it is connected.
  async function openMany(
    wanted: number,
    begin: (socket: Socket, n: number) => void,
    { allowHalfOpen = false, perSecond = socketsPerSecond } = {},
  ) {
    const perTick = Math.max(1, (perSecond * tickMs) / 1000)
    const until = performance.now() + openingMs
    const all = Math.min(wanted, target.sockets)
    for (let n = 0; n < all && performance.now() < until; ) {
      for (let of = 0; of < perTick && n < all; of++) {
        const at = n++
        const socket = open(at, allowHalfOpen)
        socket.once('connect', () => begin(socket, at))
      }
      await sleep(tickMs)
    }
    await untilAccepted()
  }

  // On a slow machine they wait in the kernel's accept queue first, where they do no harm.
  async function untilAccepted() {
    const until = performance.now() + openingMs
    while ((socketsOf(target.pid) ?? sockets.size) < sockets.size && performance.now() < until)
      await sleep(200)
  }

  // Writes to every open socket, again and again.
  async function keepWriting(text: string, everyMs: number, forMs: number) {
    for (const until = performance.now() + forMs; performance.now() < until; ) {
      await sleep(everyMs)
      for (const socket of sockets) if (socket.writable) socket.write(text)
    }
  }

  // Sends whole requests at a steady rate, and skips those that exceed the limit in flight.
  async function flood(next: (n: number) => HostileRequest, perSecond = requestsPerSecond, forMs = floodMs) {
    const agents = floodAddresses.map(localAddress => new Agent({ keepAlive: true, localAddress }))
    const perTick = (perSecond * tickMs) / 1000
    const inFlight = new Set<ClientRequest>()
    let n = 0
    let due = 0
    const send = ({ method = 'GET', path, headers, body }: HostileRequest) => {
      const agent = agents[n % agents.length]
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const sent = request({
        host: '127.0.0.1',
        port: target.port,
        agent,
        method,
        path,
        headers: { ...length, ...headers },
        timeout: answerMs,
      })
      inFlight.add(sent)
      tally.sent++
      sent.on('response', answer => {
        count(String(answer.statusCode))
        answer.on('error', () => {}).resume()
      })
      sent.on('timeout', () => sent.destroy(new Error('no answer')))
      sent.on('error', (error: NodeJS.ErrnoException) => count(error.code ?? error.message))
      sent.on('close', () => inFlight.delete(sent))
      sent.end(body)
    }
    for (const until = performance.now() + forMs; performance.now() < until; await sleep(tickMs)) {
      for (due += perTick; due >= 1; due--) if (inFlight.size < maxInFlight) send(next(n++))
    }
    for (const until = performance.now() + lastAnswersMs; inFlight.size > 0 && performance.now() < until; )
      await sleep(tickMs)
    for (const _ of inFlight) count('no answer')
    for (const agent of agents) agent.destroy()
  }

  return {
    target,
    tally,
    openMany,
    keepWriting,
    flood,
    hold: (ms: number) => sleep(ms),
    leave() {
      for (const socket of sockets) socket.destroy()
    },
  }
}
