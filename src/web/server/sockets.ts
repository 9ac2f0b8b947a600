import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

const maxUnanswered = 8 // requests of one connection
const resumeAt = 1 // not zero: the last one may wait for the rest of its own body
const quietMs = 100
const maxQuietTurns = 10
const readingTurns = 3
const maxBacklog = 1000 // connections not yet accepted
const checksPerStall = 6
const patience = 5 / 12 // of stallMs: Node may need two checks to see that no byte is sent
const lingerMs = 2000

// The state of one connection.
type SocketState = {
  unanswered: number
  latest?: ServerResponse
  isFull: boolean
  isRefused: boolean
  isUpgrading: boolean // the latest request has an Upgrade header
}

type RequestAdmission = 'serve' | 'refuse' | 'drop'

// Limits the unanswered requests of one connection, and ends all connections in order when the server stops. Node
// parses a chunk of pipelined requests at once and emits them all. So the first request beyond the limit is refused with
// an answer, in its turn, and later ones are dropped.
export class SocketTracker {
  readonly #server: Server
  readonly #sockets = new Map<Socket, SocketState>()
  readonly stopChecking: () => void
  #isStopping = false
  #isClosing = false
  #connections = 0
  #arrivals = 0 // requests since the stop was announced

  constructor(server: Server, stallMs: number) {
    this.#server = server
    server.on('connection', (socket: Socket) => this.#add(socket))
    this.stopChecking = dropStalled(server, this.#sockets, stallMs)
  }

  #add(socket: Socket) {
    this.#connections++
    const state: SocketState = { unanswered: 0, isFull: false, isRefused: false, isUpgrading: false }
    this.#sockets.set(socket, state)
    // Reading a body resumes the whole connection.
    socket.on('resume', () => void (state.isFull && socket.pause()))
    socket.on('close', () => this.#sockets.delete(socket))
    socket.destroySoon = () => {
      state.isFull = false
      hangUp(socket)
    }
  }

  admit({ socket, headers }: IncomingMessage, outgoing: ServerResponse): RequestAdmission {
    const state = this.#sockets.get(socket)
    if (!state || state.isRefused || state.isUpgrading) return 'drop'
    if (socket.writableEnded || isLast(state.latest)) return 'drop'
    if (state.unanswered === maxUnanswered) {
      state.isRefused = true
      return 'refuse'
    }
    if (++state.unanswered === maxUnanswered) {
      state.isFull = true
      socket.pause()
    }
    this.#decideKeepAlive(state, headers, outgoing)
    state.latest = outgoing
    outgoing.on('finish', () => this.#onAnswered(socket, state, outgoing))
    return 'serve'
  }

  #decideKeepAlive(state: SocketState, headers: IncomingHttpHeaders, outgoing: ServerResponse) {
    if (this.#isStopping) {
      this.#arrivals++
      setKeepAlive(state.latest, true)
      setKeepAlive(outgoing, false)
    }
    // A request for an upgrade gets an ordinary HTTP/1.1 answer. Node discards the bytes that it has read after such a
    // request. So the connection closes with this answer, and the client repeats the unanswered requests.
    if (headers.upgrade !== undefined) {
      state.isUpgrading = true
      setKeepAlive(outgoing, false)
    }
  }

  #onAnswered(socket: Socket, state: SocketState, outgoing: ServerResponse) {
    if (!this.#sockets.has(socket)) return
    state.unanswered--
    if (state.latest === outgoing) state.latest = undefined
    if (this.#isClosing && state.unanswered === 0) hangUp(socket)
    if (!state.isFull || state.isRefused || state.unanswered > resumeAt) return
    state.isFull = false
    socket.resume()
  }

  hasUnanswered(socket: Socket) {
    return (this.#sockets.get(socket)?.unanswered ?? 0) > 0
  }

  isStopping() {
    return this.#isStopping
  }

  // The next answer on each connection is its last. If several are waiting, that is the newest.
  announceStop() {
    this.#isStopping = true
    for (const { latest } of this.#sockets.values()) setKeepAlive(latest, false)
  }

  // Node accepts one connection per turn of the event loop. Those still in the backlog would be reset when the port
  // closes.
  async untilBacklogIsAccepted() {
    for (let turn = 0, before = -1; turn < maxBacklog && this.#connections !== before; turn++) {
      before = this.#connections
      await nextTurn()
    }
  }

  // A client that got an answer before the stop was announced may have sent its next request already.
  async untilQuiet() {
    let before = -1
    for (let turn = 0; turn < maxQuietTurns && this.#sockets.size > 0 && this.#arrivals !== before; turn++) {
      before = this.#arrivals
      await sleep(quietMs)
      for (let more = 0; more < readingTurns; more++) await nextTurn() // reads the bytes that have arrived
    }
  }

  closeIdle() {
    this.#isClosing = true
    this.#server.closeIdleConnections()
    for (const socket of this.#sockets.keys()) if (socket.bytesRead === 0) socket.destroy() // sent nothing
  }
}

const isLast = (answer: ServerResponse | undefined) => answer?.headersSent && !answer.shouldKeepAlive

function setKeepAlive(answer: ServerResponse | undefined, keepAlive: boolean) {
  if (answer && !answer.headersSent) answer.shouldKeepAlive = keepAlive
}

// Drops clients that do not read their answer. Only a socket with unsent bytes gets a timeout, so this costs other
// connections nothing. Node resets the timeout while bytes are sent, however slowly.
function dropStalled(server: Server, sockets: ReadonlyMap<Socket, SocketState>, stallMs: number) {
  const patienceMs = Math.floor(stallMs * patience)
  const timer = setInterval(() => {
    for (const socket of sockets.keys())
      if (socket.writableLength > 0 && socket.timeout !== patienceMs) socket.setTimeout(patienceMs)
  }, stallMs / checksPerStall)
  timer.unref()
  // The timeout was set for an earlier answer, and now the next one is being made.
  const isAwaitingAnswer = (socket: Socket) =>
    socket.writableLength === 0 && (sockets.get(socket)?.unanswered ?? 0) > 0
  server.on('timeout', (socket: Socket) => {
    if (!isAwaitingAnswer(socket)) socket.destroy()
  })
  return () => clearInterval(timer)
}

// Sends the last bytes, ends the writing side, discards further input, and then closes. A socket closed with unread bytes
// is reset, and a reset destroys answers that the client has not read yet.
export function hangUp(socket: Socket, lastBytes = '') {
  if (socket.destroyed || socket.writableEnded) return
  socket.removeAllListeners('data')
  socket.on('data', ignore)
  socket.end(lastBytes, () => {
    const over = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(over))
    socket.resume()
  })
}

function ignore() {}
