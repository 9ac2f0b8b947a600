import { connect, type Socket } from 'node:net'
import { listen } from './support.ts'

// A CONNECT proxy on loopback. It records the requests, and connects every tunnel to the same port.
export async function startProxy(answer: (asked: string) => string | undefined, leadsToPort: number) {
  const asked: string[] = []
  const listener = await listen(socket => {
    let head = ''
    const read = (chunk: Buffer) => {
      head += chunk.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      socket.off('data', read)
      asked.push(head)
      const reply = answer(head)
      socket.resume()
      if (reply !== undefined) socket.write(reply)
      if (reply && /^HTTP\/1\.[01] 2/.test(reply)) lead(socket, leadsToPort)
    }
    socket.on('data', read)
  })
  return { ...listener, asked }
}

function lead(socket: Socket, port: number) {
  const onward = connect(port, '127.0.0.1')
  onward.on('error', () => socket.destroy())
  socket.pipe(onward).pipe(socket)
}
