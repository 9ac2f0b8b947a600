import type { Server } from 'node:http'
import type { Socket } from 'node:net'

const looksInAll = 6 // in the time after which a reader must be gone
const patience = 5 / 12 // of that time: Node may have to look twice to see that no byte goes out

// Drops whoever does not read what it asked for. Only an answer that did not leave at once is given a time, so this
// costs the others nothing. Node itself goes on waiting while bytes go out, however slowly.
export function dropStalled(
  server: Server,
  lines: ReadonlyMap<Socket, { unanswered: number }>,
  stallMs: number,
) {
  const patienceMs = Math.floor(stallMs * patience)
  const timer = setInterval(() => {
    for (const socket of lines.keys())
      if (socket.writableLength > 0 && socket.timeout !== patienceMs) socket.setTimeout(patienceMs)
  }, stallMs / looksInAll)
  timer.unref()
  // A time was given, but now its next answer is being made.
  const isWorkedFor = (socket: Socket) =>
    socket.writableLength === 0 && (lines.get(socket)?.unanswered ?? 0) > 0
  server.on('timeout', (socket: Socket) => {
    if (!isWorkedFor(socket)) socket.destroy()
  })
  return () => clearInterval(timer)
}
