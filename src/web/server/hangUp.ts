import type { Socket } from 'node:net'

const lingerMs = 2000

// Ends our side with the last words that there may be, lets the other side say what it was saying, unheard, and closes then. A socket that is closed with
// unread bytes is reset, and a reset destroys the answers that are still on their way.
export function hangUp(socket: Socket, lastWords = '') {
  if (socket.destroyed || socket.writableEnded) return
  socket.removeAllListeners('data')
  socket.on('data', ignore)
  socket.end(lastWords, () => {
    const over = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(over))
    socket.resume()
  })
}

function ignore() {}
