import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { hangUp } from './hangUp.ts'
import { dropStalled } from './stalled.ts'

const maxUnanswered = 8 // requests of one connection
const readsOnAt = 1 // not zero: the last of them may wait for the rest of its own body
const quietMs = 100
const maxQuietTurns = 10
const readingTurns = 3
const maxWaiting = 1000 // connections before the door

// What we know of a connection.
export type SocketState = {
  unanswered: number
  latest?: ServerResponse
  isFull: boolean
  isRefused: boolean
  isUpgrading: boolean // the latest request offered another protocol
}

export type Admission = 'serve' | 'refuse' | 'drop'
export type Sockets = ReturnType<typeof mindSockets>

// Nobody takes more than their share by one connection. Node reads a chunk of requests at once and hands them all
// out, so what one chunk had beyond the share is refused: the first in words, in its turn, and the rest not at all.
export function mindSockets(server: Server, stallMs: number) {
  const lines = new Map<Socket, SocketState>()
  let isStopping = false
  let isClosing = false
  let connections = 0
  let arrivals = 0

  server.on('connection', (socket: Socket) => {
    connections++
    lines.set(socket, { unanswered: 0, isFull: false, isRefused: false, isUpgrading: false })
    socket.on('resume', staySilent).on('close', forget)
    socket.destroySoon = leave
  })
  const endLooking = dropStalled(server, lines, stallMs)

  function admit({ socket, headers }: IncomingMessage, outgoing: ServerResponse): Admission {
    const line = lines.get(socket)
    if (!line || line.isRefused || line.isUpgrading) return 'drop'
    if (socket.writableEnded || isLast(line.latest)) return 'drop'
    if (line.unanswered === maxUnanswered) {
      line.isRefused = true
      return 'refuse'
    }
    if (++line.unanswered === maxUnanswered) {
      line.isFull = true
      socket.pause()
    }
    if (isStopping) {
      arrivals++
      mayStay(line.latest, true)
      mayStay(outgoing, false)
    }
    // An offer to upgrade is answered in HTTP/1.1, as if there were none. Node discards what it has read behind such a
    // request, so the connection closes with this answer, and the client repeats what was not answered.
    if (headers.upgrade !== undefined) {
      line.isUpgrading = true
      mayStay(outgoing, false)
    }
    line.latest = outgoing
    outgoing.on('finish', answered)
    return 'serve'
  }

  function answered(this: ServerResponse) {
    const { socket } = this.req
    const line = lines.get(socket)
    if (!line) return
    line.unanswered--
    if (line.latest === this) line.latest = undefined
    if (isClosing && line.unanswered === 0) hangUp(socket)
    if (!line.isFull || line.isRefused || line.unanswered > readsOnAt) return
    line.isFull = false
    socket.resume()
  }

  // Whoever reads a body resumes the whole connection.
  function staySilent(this: Socket) {
    if (lines.get(this)?.isFull) this.pause()
  }

  function leave(this: Socket) {
    const line = lines.get(this)
    if (line) line.isFull = false
    hangUp(this)
  }

  function forget(this: Socket) {
    lines.delete(this)
  }

  return {
    admit,
    hasUnanswered: (socket: Socket) => (lines.get(socket)?.unanswered ?? 0) > 0,
    isStopping: () => isStopping,
    // The next answer on each connection is its last. Of several that wait, that is the newest.
    announceStop() {
      isStopping = true
      for (const { latest } of lines.values()) mayStay(latest, false)
    },
    // Node lets in one connection in a turn. Those that still wait would be reset when the port closes.
    async untilAllAreIn() {
      for (let turn = 0, before = -1; turn < maxWaiting && connections !== before; turn++) {
        before = connections
        await nextTurn()
      }
    },
    // Whoever has just had an answer without a word of the stop may have sent the next request already.
    async untilQuiet() {
      for (let turn = 0, before = -1; turn < maxQuietTurns && lines.size > 0 && arrivals !== before; turn++) {
        before = arrivals
        await sleep(quietMs)
        for (let more = 0; more < readingTurns; more++) await nextTurn() // what has arrived by now is read
      }
    },
    endLooking,
    closeIdle() {
      isClosing = true
      server.closeIdleConnections()
      for (const socket of lines.keys()) if (socket.bytesRead === 0) socket.destroy() // never said a word
    },
  }
}

const isLast = (answer: ServerResponse | undefined) => answer?.headersSent && !answer.shouldKeepAlive

function mayStay(answer: ServerResponse | undefined, stays: boolean) {
  if (answer && !answer.headersSent) answer.shouldKeepAlive = stays
}
