import type { Socket } from 'node:net'

const maxInterimBytes = 16 * 1024
const longest = 'HTTP/1.1 100'.length
const nothing: Buffer = Buffer.alloc(0)

// What is known of the answer that a connection waits for. `asked` is set with every request.
export type Hearing = { asked: boolean; heard: boolean }

// Watches the first bytes of each answer, for two reasons. Whether any byte came tells a connection that was closed
// from an answer that is broken. And the HTTP library hangs up at '100 Continue', which some servers send unasked;
// it says nothing, so it is taken out. Watching where the bytes come in costs one comparison per packet.
export function watchFirstBytes(socket: Socket, hearing: Hearing) {
  const pass = socket.push.bind(socket)
  let held = nothing

  const release = (bytes: Buffer) => {
    hearing.asked = false
    held = nothing
    return pass(bytes)
  }

  socket.push = (chunk: Buffer | null) => {
    if (!hearing.asked) return pass(chunk)
    if (chunk === null) {
      if (held.length > 0) release(held)
      return pass(null)
    }
    hearing.heard = true
    const rest = withoutContinue(held.length === 0 ? chunk : Buffer.concat([held, chunk]))
    if (rest.length > 0 && (!mayBeContinue(rest) || rest.length > maxInterimBytes)) return release(rest)
    held = rest
    return true
  }
}

function withoutContinue(bytes: Buffer): Buffer {
  let rest = bytes
  while (rest.length >= longest && mayBeContinue(rest)) {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) break
    rest = rest.subarray(end + 4)
  }
  return rest
}

// Also for the beginning of one, while the rest is on its way.
function mayBeContinue(bytes: Buffer) {
  if (bytes.length >= longest && bytes[longest - 3] !== 0x31) return false // the '1' of 100: the usual way out
  const start = bytes.toString('latin1', 0, longest)
  return 'HTTP/1.1 100'.startsWith(start) || 'HTTP/1.0 100'.startsWith(start)
}
