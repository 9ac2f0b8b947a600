import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
const chunk = Buffer.alloc(64 * 1024, 'x')

type Behaviour = (socket: Socket, tally: EndpointTally) => void
export type EndpointFault = keyof typeof behaviours
export type EndpointTally = { taken: number; bytesOut: number; healed: boolean } // taken: received requests

// How a faulty endpoint reacts to a request:
const behaviours = {
  hangs: () => {},
  fails: socket => void socket.write('HTTP/1.1 500 Oops\r\ncontent-length: 4\r\n\r\noops'),
  // A 200 whose body never ends, as fast as the client reads.
  endless: (socket, tally) => {
    socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
    const pour = () => {
      while (!socket.destroyed && socket.write(`${chunk.length.toString(16)}\r\n${chunk.toString()}\r\n`))
        tally.bytesOut += chunk.length
    }
    socket.on('drain', pour)
    pour()
  },
  trickles: socket => writeByteByByte(socket, ok),
  tricklesBody: socket => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n')
    writeByteByByte(socket, 'x'.repeat(1000))
  },
} satisfies Record<string, Behaviour>

function writeByteByByte(socket: Socket, text: string) {
  const bytes = [...text].values()
  const timer = setInterval(() => {
    const { value, done } = bytes.next()
    if (done) clearInterval(timer)
    else socket.write(value)
  }, 1000)
  socket.on('close', () => clearInterval(timer))
}

// Several endpoints, each at its own port, with one tally.
export async function openFaultyEndpoints(kind: EndpointFault, count: number) {
  const tally: EndpointTally = { taken: 0, bytesOut: 0, healed: false }
  const sockets = new Set<Socket>()
  const behave: Behaviour = behaviours[kind]
  const servers = await Promise.all(Array.from({ length: count }, () => listen(serve)))

  function serve(socket: Socket) {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {}) // the client may hang up
    socket.on('data', data => {
      if (!data.includes('HTTP/1.1\r\n')) return // the rest of a request
      tally.taken++
      if (tally.healed) socket.write(ok)
      else behave(socket, tally)
    })
  }

  return {
    urls: servers.map(({ port }) => `http://127.0.0.1:${port}`),
    tally,
    // From now on every request succeeds, also pending ones.
    heal() {
      tally.healed = true
      for (const socket of sockets) socket.write(ok)
    },
    async close() {
      for (const { server } of servers) server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

// Addresses at which nothing listens.
export async function closedPorts(count: number): Promise<string[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listen(() => {})))
  for (const { server } of servers) server.close()
  return servers.map(({ port }) => `http://127.0.0.1:${port}`)
}

async function listen(serve: (socket: Socket) => void): Promise<{ server: Server; port: number }> {
  const server = createServer(serve)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}
