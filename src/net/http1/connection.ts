import type { Socket } from 'node:net'
import type { Connect, OpenSocket } from '../connect.ts'
import type { Target } from '../target.ts'
import { Trouble } from '../trouble.ts'
import type { Exchange } from './exchange.ts'

// Told when a line has nothing to do any more, or is of no more use.
export type Keeper = { keep(line: Connection, forMs: number): void; drop(line: Connection): void }

// One connection, with one request at a time on it.
export class Connection {
  readonly key: string
  readonly #keeper: Keeper
  readonly #calling = new AbortController()
  #socket: Socket | undefined
  #address = ''
  exchange: Exchange | undefined
  idleUntil = 0

  constructor(key: string, keeper: Keeper) {
    this.key = key
    this.#keeper = keeper
  }

  // Connects, for the request that is waiting for it.
  call(connect: Connect, target: Target, exchange: Exchange) {
    this.exchange = exchange
    connect(target, this.#calling.signal).then(
      connection => this.#reach(connection, exchange),
      (error: Error) => this.#close(error),
    )
  }

  // Sends what it was given.
  leave() {
    const { exchange } = this
    if (!exchange || exchange.over) return
    if (exchange.mayLeave?.() === false)
      return this.#close(new Trouble('no_connection', 'no longer ours to send'))
    exchange.leave(this.#address)
    this.#socket?.write(exchange.request)
  }

  hangUp() {
    this.#calling.abort()
    this.#socket?.destroy()
  }

  dueAt() {
    return this.exchange ? this.exchange.dueAt : this.idleUntil
  }

  // The listeners stay for good: a socket that has ended may still stumble, and must not take the process with it.
  #reach({ socket, address, listen }: OpenSocket, exchange: Exchange) {
    this.#socket = socket
    this.#address = address
    socket.on('error', error => this.#close(error)).on('close', () => this.#close())
    if (performance.now() >= exchange.dueAt) exchange.late() // we stood still: another may be sending it by now
    if (exchange.over) socket.destroy() // given up at the last moment
    if (socket.destroyed) return this.#close(socket.errored ?? undefined) // it may have said so before we listened
    socket.on('end', () => this.#close())
    this.leave()
    listen(bytes => this.#hear(bytes))
  }

  #hear(bytes: Buffer) {
    const { exchange } = this
    if (!exchange) return this.#keeper.drop(this) // bytes that nobody has asked for
    exchange.hear(bytes)
    if (exchange.over) this.#rest(exchange.keptMs())
  }

  // An answer that came before the whole request had left says nothing about where the next one begins.
  #rest(keptMs: number) {
    this.exchange = undefined
    if (keptMs > 0 && this.#socket?.writableLength === 0) this.#keeper.keep(this, keptMs)
    else this.#keeper.drop(this)
  }

  #close(error?: Error) {
    this.exchange?.closed(error)
    this.exchange = undefined
    this.#keeper.drop(this)
  }
}
